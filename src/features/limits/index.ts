/**
 * Limits of accounts and API keys: requests and tokens a minute, calls and tasks at a time.
 *
 * Promises: a call is counted in all of its limits or in none. With shared counters a limit holds for all gateways
 * together. Every decision comes with the headers that tell what is left, and they say what that very decision saw; a
 * refusal also tells how long to wait, and whoever waits that long, and is alone, is let through.
 */
export { consumeLimits, correctTokens, returnSlot, type Slot } from "./consume-limit.ts";
export { createDrainedCalls, type DrainedCalls } from "./drained-calls.ts";
export { type LimitStates, presentLimitHeaders } from "./limit-headers.ts";
