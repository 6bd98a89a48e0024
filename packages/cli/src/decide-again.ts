/** A failed attempt to call the server. */
export type FailedAttempt = {
  /** `null` without a response. */
  status: number | null;
  headers: Headers | null;
  /** Whether the request cannot have reached the server. */
  isUnsent: boolean;
};

const attemptsMax = 4;
const delayMsFirst = 500;
/** A longer Retry-After is reported instead of awaited. */
const delayMsMax = 60_000;
/** The server did not process the request. */
const untouchedStatuses = [409, 429, 503];
const shakyStatuses = [408, 500, 502, 504];

/**
 * Returns the delay before the next attempt, or `null` to give up. `isRepeatable`: the request is idempotent;
 * `random` is at least 0 and less than 1.
 */
export function decideAgain(
  { status, headers, isUnsent }: FailedAttempt,
  { attempt, isRepeatable, random }: { attempt: number; isRepeatable: boolean; random: number },
): number | null {
  if (attempt >= attemptsMax || !isWorthIt({ status, headers, isUnsent }, isRepeatable)) return null;
  const askedMs = readRetryAfterMs(headers);
  if (askedMs !== null) return askedMs > delayMsMax ? null : askedMs;
  return delayMsFirst * 2 ** (attempt - 1) * (1 + random / 4);
}

function isWorthIt({ status, headers, isUnsent }: FailedAttempt, isRepeatable: boolean): boolean {
  const word = headers?.get("x-should-retry");
  if (word === "false") return false;
  if (status === null) return isRepeatable || isUnsent;
  // A 409 is temporary only with Retry-After.
  if (status === 409 && headers?.has("retry-after") !== true) return false;
  if (untouchedStatuses.includes(status)) return true;
  return isRepeatable && (word === "true" || shakyStatuses.includes(status));
}

function readRetryAfterMs(headers: Headers | null): number | null {
  const milliseconds = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const seconds = Number(headers?.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}
