const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The delay after each failed attempt. After the last one there is no retry. */
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
 * When to retry after `attemptCount` failures; `null` when the schedule is exhausted. `random` is in [0, 1). A receiver
 * may ask for a longer delay, up to twice the scheduled one.
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

/** Parses `Retry-After`, in seconds or as an HTTP date, into milliseconds; `null` for anything else. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * secondMs;
  // `Date.parse` accepts many formats; HTTP dates have one.
  const time = /^[A-Z][a-z]{2}, \d{2} /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - now.getTime());
}
