/**
 * The request log: every call of an account, however it ended.
 *
 * Promises: no call waits for it or fails because of it. Each process writes it in batches, shortly after the response.
 * Losses during a long database outage are bounded, counted and reported to the affected accounts. It is kept for the
 * configured time and dropped by whole months. Calls are stored in blocks, which a job merges. No account sees another's calls.
 *
 * The content log, for keys that have it on: the bodies of calls and responses, redacted and encrypted before they are
 * written together with the call. Both logs drop what would take too much memory, and record the loss.
 */
export { type ContentSeal, createContentSeal } from "./content/seal-content.ts";
export { createRequestLog, type RequestLog } from "./create-request-log.ts";
export { describeError } from "./describe-error.ts";
export { findByForeignId } from "./find-by-foreign-id.ts";
export { listAnyRequests } from "./list-any-requests.ts";
export { packRequestLog } from "./pack-request-log.ts";
export { countStrayRequests, sumLostRequests } from "./partition-store.ts";
export { readEveryRequest } from "./read-every-request.ts";
export { searchRequests, showRequest } from "./read-requests.ts";
export { readTraffic, type TrafficCall } from "./read-traffic.ts";
export {
  clientClosedStatus,
  decideEnding,
  type LoggedRequest,
  requestEndings,
  type ShownRequest,
} from "./request-record.ts";
export { addRequestRoutes } from "./request-routes.ts";
export { findNewestRefusal } from "./request-store.ts";
export { rollRequestLog } from "./roll-request-log.ts";
export { summarizeUpstreams, type UpstreamTraffic } from "./summarize-upstreams.ts";
