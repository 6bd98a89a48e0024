import { type CallerDirectory, recallCaller } from "../features/accounts/index.ts";
import {
  clientClosedStatus,
  decideEnding,
  describeError,
  type LoggedRequest,
  type RequestLog,
} from "../features/requests/index.ts";
import { readIdTime } from "../lib/ids.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { getWire } from "../platform/http/endpoint-table.ts";
import { createFacts } from "../platform/http/request-context.ts";
import type { EndedRequest } from "../platform/http/request-log.ts";

type NoteDependencies = { requestLog: Pick<RequestLog, "note" | "amend">; callers: Pick<CallerDirectory, "recall"> };

const apiPathPattern = /^\/v1(?:[/?#]|$)/;
const userAgentCharactersMax = 256;
const modelCharactersMax = 128;
const noFacts = createFacts({});

/**
 * Adds a request to the account's log: API calls with a known key, also those rejected before authentication, and changes
 * made in the console. Reads of console pages are not logged.
 */
export function noteRequest({ requestLog, callers }: NoteDependencies, ended: EndedRequest): void {
  const { reply, route, endpoint } = ended;
  const { request } = reply;
  const isOfApi = apiPathPattern.test(request.url);
  if (!isOfApi && (endpoint === null || request.method === "GET" || request.method === "HEAD")) return;
  const caller = request.caller ?? (isOfApi ? recallCaller(callers, request.headers) : null);
  const createdAt = caller === null ? null : readIdTime(request.id);
  if (caller === null || createdAt === null) return;
  const facts = request.facts ?? noFacts;
  const { tokens } = facts;
  const hasFailed = ended.code !== null;
  const status = readStatus(ended);
  // One literal, because this runs for every call: spread objects are slow to make.
  const record: LoggedRequest = {
    id: request.id,
    createdAt,
    accountId: caller.accountId,
    keyId: caller.keyId,
    clientRequestId: request.clientRequestId,
    wire: endpoint === null ? null : getWire(endpoint),
    method: request.method,
    route,
    model: facts.model ?? readModel(request.body),
    status,
    errorCode: ended.code,
    error: request.failure instanceof AppError ? describeError(request.failure) : null,
    ending: decideEnding({ status, isAborted: ended.isAborted, hasFailed }),
    durationMs: Math.round(ended.durationMs),
    firstTokenMs: facts.firstTokenMs === null ? null : Math.round(facts.firstTokenMs),
    inputTokens: tokens?.input ?? null,
    cachedInputTokens: tokens?.cachedInput ?? null,
    cacheWriteTokens: tokens?.cacheWrites ?? null,
    outputTokens: tokens?.output ?? null,
    reasoningTokens: tokens?.reasoning ?? null,
    audioInputTokens: tokens?.audioInput ?? null,
    audioOutputTokens: tokens?.audioOutput ?? null,
    // A bill of 0 is a charge of 0, not null.
    charge: facts.chargeId === null ? null : facts.charge,
    chargeId: facts.chargeId,
    taskId: facts.taskId,
    userAgent: request.headers["user-agent"]?.slice(0, userAgentCharactersMax) ?? null,
    isReplayed: reply.hasHeader("idempotent-replayed"),
    upstream: facts.upstream,
    upstreamRequestId: facts.upstreamRequestId,
    failedAttempts: facts.failedAttempts,
  };
  if (ended.isUpdate) requestLog.amend(record);
  else requestLog.note(record, request.content);
}

function readStatus({ reply, isAborted, code }: EndedRequest): number {
  const isUnanswered = isAborted && code === null && !reply.raw.headersSent;
  return isUnanswered ? clientClosedStatus : reply.statusCode;
}

/** The model of a failed request, if it can be stored. */
function readModel(body: unknown): string | null {
  if (typeof body !== "object" || body === null || !("model" in body)) return null;
  const { model } = body;
  const isStorable = typeof model === "string" && model !== "" && !model.includes("\0") && model.isWellFormed();
  return isStorable && model.length <= modelCharactersMax ? model : null;
}
