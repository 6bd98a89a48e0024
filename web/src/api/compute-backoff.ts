const firstMs = 500;
const longestMs = 10_000;

/** Exponential backoff with jitter: at least half of the step, so that many browsers do not come back at once. */
export function computeBackoffMs(attempt: number, random: () => number): number {
  const stepMs = Math.min(firstMs * 2 ** attempt, longestMs);
  return Math.round(stepMs * (0.5 + random() / 2));
}
