import type { IncomingHttpHeaders } from "node:http";
import type { Ask } from "./answer-plan.ts";
import type { Vendor } from "./behaviour.ts";

/** A request that a fake upstream received whole, and what became of it. Times are of `performance.now()`. */
export type FakeCall = {
  number: number;
  /** `null` for a path that no vendor has, as when a redirect was followed. */
  vendor: Vendor | null;
  method: string;
  /** As it came, with the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The parsed body; `undefined` when it is no JSON. */
  json: unknown;
  model: string | null;
  apiKey: string | null;
  /** What was asked for, in no vendor's form; `null` when the vendor refused the request. */
  ask: Ask | null;
  /** Why the vendor refused the request as malformed or unauthorized. A faithful translation is never refused. */
  refusal: string | null;
  receivedAt: number;
  /** When the head of the answer was sent. */
  headAt: number | null;
  endedAt: number | null;
  /** Bytes of the answer's body that the other side's machine has taken. */
  bytesWritten: number;
  /** `cut` when the fake itself ended the connection, `aborted` when the other side did. */
  outcome: "open" | "finished" | "cut" | "aborted";
};
