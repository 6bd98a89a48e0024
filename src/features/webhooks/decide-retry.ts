const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How long after each failed attempt the next one is due. After the last of them there is none. */
export const retryDelaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
] as const;

const spread = 0.1;

/**
 * When a delivery is tried again after as many failed attempts; `null` when the schedule is used up. `random` is at
 * least 0 and less than 1. A receiver may ask for a longer wait, up to twice the scheduled one.
 */
export function decideRetry(
  attemptCount: number,
  { now, random, retryAfterMs }: { now: Date; random: number; retryAfterMs: number | null },
): Date | null {
  const delayMs = retryDelaysMs[attemptCount - 1];
  if (delayMs === undefined) return null;
  const spreadMs = delayMs * (1 - spread + 2 * spread * random);
  return new Date(now.getTime() + Math.round(Math.max(spreadMs, Math.min(retryAfterMs ?? 0, 2 * delayMs))));
}

/** A `Retry-After` header in milliseconds: seconds, or a date. `null` for anything else. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * secondMs;
  // The parser takes many things for a date; the header has one form for it.
  const time = /^[A-Z][a-z]{2}, \d{2} /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - now.getTime());
}
