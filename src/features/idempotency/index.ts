/**
 * Idempotency: a request that is retried with the same `Idempotency-Key` runs once and gets the first response again.
 *
 * Promises: of concurrent requests with one key, one runs. Its effects and its stored response commit together. If its
 * process dies, the key is free after a minute. A key belongs to an account, not to an API key.
 */
export {
  type ClaimTerms,
  claimKey,
  isKeyKnown,
  parseIdempotencyKey,
  recallAnswer,
} from "./claim-key.ts";
export { type Claims, createClaims } from "./create-claims.ts";
export {
  type Claim,
  createTakenOver,
  type EndedClaim,
  endedClaim,
  fingerprintRequest,
  isClaimLost,
  type KeptAnswer,
  keptBytesMax,
} from "./idempotency-key.ts";
export { endClaims, lockClaims } from "./idempotency-store.ts";
export {
  claimWithAnswers,
  forgetAnswer,
  forgetExpiredKeys,
  freeKey,
  keepAnswer,
  lockClaim,
  renewClaim,
  withdrawClaims,
} from "./keep-answer.ts";
