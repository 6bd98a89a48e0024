import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { Caller } from "../../lib/caller.ts";
import { invariant } from "../../lib/invariant.ts";
import type { JsonLimits } from "../../lib/json-cursor.ts";
import type { Nano } from "../../lib/money.ts";
import type { LeaseState, RateState } from "../counters/counters.ts";
import type { LogFields } from "../observability/stringify-fields.ts";
import type { Span } from "../tracing/span.ts";
import type { EndpointName } from "./endpoint-table.ts";
import type { AccessWatch } from "./event-stream.ts";
import type { ContentTap } from "./tap-content.ts";

/** The caller's limits at admission: per kind, the account's or the key's. */
export type SeenLimits = {
  /** The limit with the least left. */
  requests: RateState | null;
  tokens: RateState | null;
  /** The limit with the smallest share left. */
  tightestRequests: RateState | null;
  tightestTokens: RateState | null;
  /** The concurrency limit, for calls and tasks. */
  places: LeaseState | null;
  isDegraded: boolean;
};

/** Tokens by kind; the optional kinds are parts of input or output. */
export type TokenCounts = {
  input: number;
  output: number;
  cachedInput?: number;
  cacheWrites?: number;
  reasoning?: number;
  audioInput?: number;
  audioOutput?: number;
};

/** A failed attempt at an upstream. For operators only. */
export type FailedAttempt = {
  upstream: string;
  upstreamModel: string;
  keyNumber: number;
  durationMs: number;
  /** From the table of failures. */
  kind: string;
  status: number | null;
  code: string | null;
  /** The upstream's error text, truncated and without keys. */
  said: string | null;
  /** The id that the upstream gave the request. */
  upstreamRequestId: string | null;
};

/** Facts about a call for the request log. */
export type CallFacts = {
  model: string | null;
  taskId: string | null;
  firstTokenMs: number | null;
  tokens: TokenCounts | null;
  charge: Nano | null;
  chargeId: string | null;
  /** For operators only: the upstream that responded or was tried last, and the failed attempts. */
  upstream: string | null;
  /** The id that this upstream gave the request. */
  upstreamRequestId: string | null;
  failedAttempts: readonly FailedAttempt[];
  /** A call may outlast its connection; until it ends, the facts are incomplete. */
  isOpen: boolean;
  /** The caller does not wait: the call is logged when it begins and again when it ends. */
  isBackground: boolean;
  /** Called by `closeFacts`, if the connection closed before the call ended. */
  onClosed: (() => void) | null;
};

/** Our additions to Fastify's request. */
export type RequestContext = {
  /** Set once by authentication. */
  caller: Caller | null;
  clientRequestId: string | null;
  startedMs: number;
  respondedMs: number | null;
  /** For the rate limit headers. */
  limits: SeenLimits | null;
  bodyBytes: number;
  /** Only with an `Idempotency-Key`. */
  rawBody: Buffer | null;
  /** Additional fields of the log line. */
  logFields: LogFields | null;
  facts: CallFacts | null;
  /** The error in the response, for the log line. */
  failure: Error | null;
  /** `null` if the request is not traced. */
  span: Span | null;
  /** `null` if the key's content log is off. */
  content: ContentTap | null;
};

export const emptyContext: Readonly<RequestContext> = {
  caller: null,
  clientRequestId: null,
  startedMs: 0,
  respondedMs: null,
  limits: null,
  bodyBytes: 0,
  rawBody: null,
  logFields: null,
  facts: null,
  failure: null,
  span: null,
  content: null,
};

/** Shared: most calls have no failed attempt. */
const noAttempts: readonly FailedAttempt[] = [];

export function createFacts(known: Partial<CallFacts>): CallFacts {
  return {
    model: null,
    taskId: null,
    firstTokenMs: null,
    tokens: null,
    charge: null,
    chargeId: null,
    upstream: null,
    upstreamRequestId: null,
    failedAttempts: noAttempts,
    isOpen: false,
    isBackground: false,
    onClosed: null,
    ...known,
  };
}

/** Marks the facts as complete. */
export function closeFacts(facts: CallFacts | null): void {
  if (facts === null || !facts.isOpen) return;
  facts.isOpen = false;
  facts.onClosed?.();
}

const openReply = Symbol("current reply of a connection");

/**
 * Attaches the current reply to its connection, for errors below Fastify. A WeakMap would retain every request of the
 * connection until the next major garbage collection.
 */
export function noteOpenReply(
  socket: Socket & { [openReply]?: FastifyReply | null },
  reply: FastifyReply | null,
): void {
  socket[openReply] = reply;
}

export function findOpenReply(socket: Socket & { [openReply]?: FastifyReply | null }): FastifyReply | null {
  return socket[openReply] ?? null;
}

const unreadBody = Symbol("connection has an unread request body");

/** For errors below Fastify: the request already has a response. */
export function noteUnreadBody(socket: Socket & { [unreadBody]?: boolean }, isUnread: boolean): void {
  socket[unreadBody] = isUnread;
}

export function hasUnreadBody(socket: Socket & { [unreadBody]?: boolean }): boolean {
  return socket[unreadBody] === true;
}

declare module "fastify" {
  interface FastifyRequest extends RequestContext {
    /** Ends this request's stream when the caller loses access. */
    watchAccess: AccessWatch;
    /** Counts an open stream of the caller and returns the release function. Throws at the limit. */
    enterStream(): Promise<() => void>;
  }
  interface FastifyContextConfig {
    /** The route's entry in the endpoint table. */
    endpoint?: EndpointName;
    /** The route's entry in the table of the operators' API. */
    adminEndpoint?: string;
    /** A route of the console API that requires no session. */
    access?: "open";
    /** Successful requests are logged at the level `debug`. */
    isQuiet?: true;
    /** `false` if the body is not stored, so texts that PostgreSQL cannot store are allowed. */
    storesTexts?: false;
    /** Whether a large body keeps the text that it was parsed from, because an upstream gets most of it unchanged. */
    keepsText?: true;
    /**
     * Checks a body where it is and parses only the fields that the gateway needs; `null` if it has to be parsed. Its result
     * must mean the same as the parsed body to the route's schema and to everything after it.
     */
    outline?: (bytes: Buffer, limits: JsonLimits) => object | null;
    /** Overrides the structure limit of JSON bodies if it is higher than the setting. */
    jsonStructureMax?: number;
  }
  interface FastifySchema {
    "x-stability"?: "beta" | "preview";
  }
}

/** The caller of a route behind authentication. */
export function getCaller(request: { caller: Caller | null }): Caller {
  invariant(request.caller !== null, "this route runs without authentication");
  return request.caller;
}
