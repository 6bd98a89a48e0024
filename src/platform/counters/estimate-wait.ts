/** A held lease: its age and how long such leases are usually held. */
export type PlaceHolder = { ageMs: number; usualMs: number };

const waitMsMin = 1000;
const waitMsMax = 60_000;

/** At least 1 s so clients don't retry in a tight loop, at most a minute because estimates improve. */
export function clampWait(waitMs: number): number {
  return Math.ceil(Math.min(waitMsMax, Math.max(waitMsMin, waitMs)));
}

/**
 * Estimated time until the first lease is released: the rest of its usual time, or, if it is overdue, as long again as it
 * is overdue, which gives exponential backoff for a stuck one.
 */
export function estimateWait(holders: readonly PlaceHolder[]): number {
  return holders.reduce((least, { ageMs, usualMs }) => Math.min(least, Math.abs(usualMs - ageMs)), waitMsMax);
}

/** Exponential moving average. */
const newestWeight = 0.2;

export function averageRecent(averageMs: number | null, durationMs: number): number {
  return averageMs === null ? durationMs : averageMs + newestWeight * (durationMs - averageMs);
}
