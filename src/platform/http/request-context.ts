import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { Caller } from "../../lib/caller.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Nano } from "../../lib/money.ts";
import type { LeaseState, RateState } from "../counters/counters.ts";
import type { LogFields } from "../observability/stringify-fields.ts";
import type { Span } from "../tracing/span.ts";
import type { EndpointName } from "./endpoint-table.ts";
import type { AccessWatch } from "./event-stream.ts";
import type { ContentTap } from "./tap-content.ts";

/** What decisions saw of a caller's limits. Of each kind, the account's or the key's. */
export type SeenLimits = {
  /** The limit that lets the fewest more pass. */
  requests: RateState | null;
  tokens: RateState | null;
  /** The limit with the smallest share left, which may be another. */
  tightestRequests: RateState | null;
  tightestTokens: RateState | null;
  /** The calls or tasks at a time, of a request that is one of them. */
  places: LeaseState | null;
  isDegraded: boolean;
};

/** Tokens by kind, all of them parts of the input or the output. */
export type TokenCounts = {
  input: number;
  output: number;
  cachedInput?: number;
  cacheWrites?: number;
  reasoning?: number;
  audioInput?: number;
  audioOutput?: number;
};

/** An attempt at an upstream that failed. For operators only: customers see nothing of it. */
export type FailedAttempt = {
  upstream: string;
  upstreamModel: string;
  keyNumber: number;
  durationMs: number;
  /** Of the table of failures. */
  kind: string;
  status: number | null;
  code: string | null;
  /** What the upstream said, bounded and without keys. */
  said: string | null;
};

/** What an operation tells of a call, for the account's request log. */
export type CallFacts = {
  model: string | null;
  taskId: string | null;
  firstTokenMs: number | null;
  tokens: TokenCounts | null;
  charge: Nano | null;
  chargeId: string | null;
  /** For operators only: the upstream that answered, or was asked last, and what those said that failed. */
  upstream: string | null;
  failedAttempts: readonly FailedAttempt[];
  /** A call may outlast its connection. While it goes on, its facts are not known. */
  isOpen: boolean;
  /** Nobody waits for its end: it is logged when it has begun, and again when they are known. */
  isBackground: boolean;
  /** Called when they are, by whoever closes them, where the connection has closed before. */
  onClosed: (() => void) | null;
};

/** What we keep with each request beside what the framework keeps. */
export type RequestContext = {
  /** Set once by authentication. */
  caller: Caller | null;
  clientRequestId: string | null;
  startedMs: number;
  respondedMs: number | null;
  /** What was seen of the caller's limits, for the headers that tell of them. */
  limits: SeenLimits | null;
  /** How long the body was, and the body itself where the request has an `Idempotency-Key`. */
  bodyBytes: number;
  rawBody: Buffer | null;
  /** What the operation wants to be told of in the log line. */
  logFields: LogFields | null;
  facts: CallFacts | null;
  /** The error that the answer tells of, for the log line. */
  failure: Error | null;
  /** `null` where the request is not traced. */
  span: Span | null;
  /** What is gathered of its bodies; `null` where its key does not have them kept. */
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

/** Shared, because most calls fail nowhere. */
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
    failedAttempts: noAttempts,
    isOpen: false,
    isBackground: false,
    onClosed: null,
    ...known,
  };
}

/** Nothing more will be known of a call. */
export function closeFacts(facts: CallFacts | null): void {
  if (facts === null || !facts.isOpen) return;
  facts.isOpen = false;
  facts.onClosed?.();
}

const openReply = Symbol("the reply that a connection is busy with");

/**
 * Notes on a connection which reply it is busy with, for what goes wrong below the framework. Not in a weak map: that kept
 * everything about every request of a connection until the next great collection of garbage.
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

const unreadBody = Symbol("whether a connection still brings the body of a request that was answered");

/** Notes it for what goes wrong below the framework: whoever has been answered is not answered again. */
export function noteUnreadBody(socket: Socket & { [unreadBody]?: boolean }, isUnread: boolean): void {
  socket[unreadBody] = isUnread;
}

export function hasUnreadBody(socket: Socket & { [unreadBody]?: boolean }): boolean {
  return socket[unreadBody] === true;
}

declare module "fastify" {
  interface FastifyRequest extends RequestContext {
    /** Ends a stream that this request opens when whoever sent it may not read it any more. */
    watchAccess: AccessWatch;
    /** Takes a place among the streams that its caller has open; answers how to leave. Throws where there is none. */
    enterStream(): Promise<() => void>;
  }
  interface FastifyContextConfig {
    /** The endpoint of the table that a route is, for what the edge decides about it. */
    endpoint?: EndpointName;
    /** Routes of the console API are for people who are signed in; these are for everybody. */
    access?: "open";
    /** `false` where no text of the body is stored, so that it may be one that the database cannot hold. */
    storesTexts?: false;
    /** How much structure a JSON body may have, where that is more than the settings say. */
    jsonStructureMax?: number;
  }
  interface FastifySchema {
    /** How firm the endpoint is, for the reference. */
    "x-stability"?: "beta" | "preview";
  }
}

/** The caller of a route behind authentication. */
export function getCaller(request: { caller: Caller | null }): Caller {
  invariant(request.caller !== null, "this route runs without authentication");
  return request.caller;
}
