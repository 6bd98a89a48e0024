/**
 * Idempotency: a request that is sent again with its `Idempotency-Key` is answered again, and done once.
 *
 * Promises: of any number of requests with one key, one runs. What it did and the answer that tells of it become durable
 * together. A request whose process died frees its key after a minute. A key belongs to an account, not to an API key.
 */
export {
  type ClaimTerms,
  claimKey,
  isKeyKnown,
  parseIdempotencyKey,
  recallAnswer,
} from "./claim-key.ts";
export { type Claims, createClaims } from "./create-claims.ts";
export { createTakenOver, type EndedClaim, endedClaim, isClaimLost } from "./ended-claim.ts";
export { type Claim, fingerprintRequest, type KeptAnswer, keptBytesMax } from "./idempotency-key.ts";
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
