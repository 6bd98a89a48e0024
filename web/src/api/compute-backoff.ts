const firstMs = 500;
const longestMs = 10_000;

/** Exponential backoff with jitter of up to half the step, so browsers don't reconnect at once. */
export function computeBackoffMs(attempt: number, random: () => number): number {
  const stepMs = Math.min(firstMs * 2 ** attempt, longestMs);
  return Math.round(stepMs * (0.5 + random() / 2));
}
