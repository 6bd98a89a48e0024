/**
 * Limits of accounts and API keys: requests and tokens per minute; concurrent calls, tasks and event streams.
 *
 * Promises: a call counts against all of its limits or none. With shared counters a limit holds across all gateways. Every
 * decision returns what is left; a rejection also returns `Retry-After`. For a rate limit that is exact for a single
 * client, for a concurrency limit it is an estimate.
 */
export {
  consumeLimits,
  correctTokens,
  readLimits,
  renewStreamSlot,
  returnSlot,
  returnStreamSlot,
  type Slot,
  takeStreamSlot,
} from "./consume-limit.ts";
