/**
 * Limits of accounts and API keys: how many requests a minute they may make.
 *
 * Promises: a request is counted in all of its limits or in none. With shared counters a limit holds for all gateways
 * together. Every decision comes with the headers that tell what is left, and they say what that very decision saw; a
 * refusal also tells how long to wait, and whoever waits that long, and is alone, is let through.
 */
export { consumeRequestLimit } from "./consume-limit.ts";
