import type { IncomingHttpHeaders } from "node:http";
import type { Ask } from "./answer-plan.ts";
import type { Vendor } from "./behaviour.ts";

/** A request that a fake upstream received completely, and its outcome. Times are of `performance.now()`. */
export type FakeCall = {
  number: number;
  /** `null` for a path of no vendor, as when a redirect was followed. */
  vendor: Vendor | null;
  method: string;
  /** As received, with the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The parsed body; `undefined` when it is not JSON. */
  json: unknown;
  model: string | null;
  apiKey: string | null;
  /** The request, independent of the vendor's format; `null` when the vendor refused it. */
  ask: Ask | null;
  /** Why the vendor refused the request as malformed or unauthorized. A correct translation is never refused. */
  refusal: string | null;
  receivedAt: number;
  /** When the head of the answer was sent. */
  headAt: number | null;
  endedAt: number | null;
  /** Bytes of the answer's body that the client's kernel has accepted. */
  bytesWritten: number;
  /** `cut` when the fake itself ended the connection, `aborted` when the client did. */
  outcome: "open" | "finished" | "cut" | "aborted";
};
