/**
 * The ledger: the only writer of money. It is double-entry and only ever added to.
 *
 * Promises: nothing is answered before it is durable. Nothing is spent that is not there, on any number of processes:
 * each account's operations happen one after another, under the lock of its wallet. Whatever is sent twice happens once,
 * and is answered the same. One function decides, whether operations are committed in groups (`createLedger`) or inside a
 * caller's transaction (`openHold`, `settleHold`, `releaseHold`). What was charged can be computed again for ever.
 */
export { createLedger, type Ledger } from "./create-ledger.ts";
