/**
 * The request log: every call of an account, however it ended.
 *
 * Promises: no call waits for it or fails by it. It is written in batches a moment after the answer, by each process for
 * itself. What is lost, because the database was away for too long, is bounded, counted and told to those whose calls
 * they were. It is kept for as long as the settings say: months are dropped whole. Nobody sees another account's.
 *
 * The content log, for keys that have it on: the bodies of calls and answers, without what looks like a secret, sealed before
 * they are written, with the call. Of both, what would take too much memory is lost, and told as such.
 */
export { type ContentSeal, createContentSeal } from "./content/seal-content.ts";
export { createRequestLog, type RequestLog } from "./create-request-log.ts";
export { countStrayRequests } from "./partition-store.ts";
export { showRequest } from "./read-requests.ts";
export { decideEnding, hungUpStatus, type ShownRequest } from "./request-record.ts";
export { addRequestRoutes } from "./request-routes.ts";
export { rollRequestLog } from "./roll-request-log.ts";
