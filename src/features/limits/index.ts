/**
 * Limits of accounts and API keys: requests and tokens a minute, calls, tasks and streams of events at a time.
 *
 * Promises: a call is counted in all of its limits or in none. With shared counters a limit holds for all gateways
 * together. Every decision tells what it saw of what is left; a refusal also tells how long to wait. Of a rate, whoever
 * waits that long, and is alone, is let through; of a place, it is an estimate.
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
