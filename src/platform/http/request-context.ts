import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AccountId, KeyId } from "../../lib/ids.ts";

/** Who calls: set once by authentication, read by routes and by the request's log line. */
type Caller = { accountId: AccountId; keyId: KeyId };

/** What we keep with each request beside what the framework keeps. */
export type RequestContext = {
  caller: Caller | null;
  clientRequestId: string | null;
  startedMs: number;
  respondedMs: number | null;
  /** The error that the answer tells of, for the log line. */
  failure: Error | null;
};

export const emptyContext: Readonly<RequestContext> = {
  caller: null,
  clientRequestId: null,
  startedMs: 0,
  respondedMs: null,
  failure: null,
};

/** The request that each connection is busy with, for what goes wrong below the framework. */
export type OpenRequests = WeakMap<Socket, { request: FastifyRequest; reply: FastifyReply }>;

declare module "fastify" {
  interface FastifyRequest extends RequestContext {}
  interface FastifySchema {
    /** How firm the endpoint is, for the reference. */
    "x-stability"?: "beta" | "preview";
  }
}
