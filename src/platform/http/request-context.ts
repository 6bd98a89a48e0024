import type { AccountId, KeyId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";

/** Who calls: set once by authentication, read by routes and by the request's log line. */
export type Caller = { accountId: AccountId; keyId: KeyId };

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    clientRequestId: string | null;
    startedMs: number;
    respondedMs: number | null;
    /** The error that the answer tells of, for the log line. */
    failure: Error | null;
  }
  interface FastifySchema {
    /** How firm the endpoint is, for the reference. */
    "x-stability"?: "beta" | "preview";
  }
}

export function getCaller(request: { caller: Caller | null }): Caller {
  invariant(request.caller !== null, "this route runs without authentication");
  return request.caller;
}
