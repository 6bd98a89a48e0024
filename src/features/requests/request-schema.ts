import { type Static, Type } from "typebox";
import { nano, presentMoney } from "../../lib/money.ts";
import { endpointWires } from "../../platform/http/endpoint-table.ts";
import {
  chargeFilterFields,
  createPageSchema,
  listFields,
  moneySchema,
  periodFields,
  toSeconds,
} from "../usage/index.ts";
import { type ReadRequest, type RequestGap, type RequestRecord, requestEndings } from "./request-record.ts";
import type { RequestSummary, SummaryFigures } from "./summarize-requests.ts";

const maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const maybeCount = (description: string) => Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const requestIdPattern = "^req_[0-9a-z]{26}$";
const idsMax = 50;

/** The filters of requests. */
const requestFilterFields = {
  ...periodFields,
  ...chargeFilterFields,
  wire: Type.Optional(Type.Enum(endpointWires, { description: "Only calls in this API format." })),
  status: Type.Optional(
    Type.String({
      pattern: "^([1-5]xx|[1-5][0-9]{2})$",
      examples: ["5xx", "429"],
      description: "A status or a status class.",
    }),
  ),
  error_code: Type.Optional(Type.String({ pattern: "^[a-z_0-9]{1,64}$", description: "Only with this error code." })),
  client_request_id: Type.Optional(
    Type.String({ pattern: "^[!-~]{1,512}$", description: "Only with this `X-Client-Request-Id`." }),
  ),
};

export const requestQuerySchema = Type.Object(
  {
    ...requestFilterFields,
    ids: Type.Optional(
      Type.String({
        pattern: `^req_[0-9a-z]{26}(,req_[0-9a-z]{26}){0,${idsMax - 1}}$`,
        description: `Only these requests: up to ${idsMax} ids, separated by commas.`,
      }),
    ),
    ...listFields(requestIdPattern),
  },
  { additionalProperties: false },
);

const tokensSchema = Type.Object({
  input: count("All input tokens, including cache reads and writes."),
  cached_input: count("Input tokens read from a cache."),
  cache_writes: count("Input tokens written to a cache."),
  audio_input: count("Input tokens that were audio."),
  output: count("All output tokens."),
  reasoning: count("Output tokens that were reasoning."),
  audio_output: count("Output tokens that were audio."),
});

export const requestSchema = Type.Object({
  object: Type.Literal("request"),
  id: Type.String({ examples: ["req_01kh2n8v7m3q5x9d4c6b8a0e2f"], description: "The response's `x-request-id`." }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  created_at: Type.String({ format: "date-time", description: "The same, to the millisecond." }),
  client_request_id: maybe("The `X-Client-Request-Id` of the request."),
  key_id: Type.String({ description: "The API key of the request." }),
  wire: Type.Union([Type.Enum(endpointWires), Type.Null()], {
    description: "The API format; `null` if the path does not exist.",
  }),
  method: Type.String({ examples: ["POST"] }),
  route: maybe("The path with its parameter names; `null` if the path does not exist."),
  model: maybe("The requested model, also if it does not exist."),
  status: Type.Integer({
    description: "The response's status; 499 if the client disconnected before the response started.",
  }),
  error_code: maybe("The error code of the response or of the stream."),
  error_message: maybe("The error message of the response, up to 1000 characters, without secrets."),
  error_param: maybe("The field, query parameter or header that the error names."),
  ending: Type.Enum(requestEndings, {
    description: `\`answered\`; \`refused\` with a 4xx; \`failed\` with a 5xx; \`hung_up\` if the client disconnected before the end;
\`broken_off\` if the response failed after it had started.`,
  }),
  latency_ms: count("From the first byte of the request to the last byte of the response."),
  time_to_first_token_ms: maybeCount("Time to the first piece of a streamed response; `null` if it was not streamed."),
  tokens: Type.Union([tokensSchema, Type.Null()], { description: "`null` if it used none." }),
  charge: Type.Union([moneySchema("The amount paid in money."), Type.Null()], {
    description: "The amount paid in money; `null` if nothing was charged, or not yet.",
  }),
  charge_id: maybe("The charge; see `GET /charges/{charge_id}`."),
  task_id: maybe("The task that it created."),
  user_agent: maybe("The `User-Agent`, up to 256 characters."),
  replayed: Type.Boolean({ description: "The answer to an earlier request with the same `Idempotency-Key`." }),
  has_content: Type.Boolean({
    description: "Whether `GET /requests/{request_id}/content` returns content: the key's content log was on.",
  }),
});

const gapSchema = Type.Object({
  from: Type.String({ format: "date-time" }),
  to: Type.String({ format: "date-time" }),
  lost: Type.Integer({ minimum: 1, description: "How many calls of this period are missing in the log." }),
});

export const requestListSchema = Type.Object({
  ...createPageSchema(requestSchema).properties,
  gaps: Type.Array(gapSchema, {
    description:
      "Periods in which the log is incomplete, newest first; usually empty. `GET /charges` always lists every charge.",
  }),
});

const percentilesSchema = Type.Object({
  p50: count("The median."),
  p95: count("The 95th percentile."),
  p99: count("The 99th percentile."),
});
const maybePercentiles = (description: string) => Type.Union([percentilesSchema, Type.Null()], { description });

const figureFields = {
  count: count("All calls."),
  "1xx": count("Calls with such a status."),
  "2xx": count("Calls with such a status."),
  "3xx": count("Calls with such a status."),
  "4xx": count("Calls with such a status, including 499: the client disconnected before the response started."),
  "5xx": count("Calls with such a status."),
  hung_up: count("Calls whose client disconnected before the end, whatever their status."),
  latency_ms: maybePercentiles("Of successful calls; `null` if there are none."),
  time_to_first_token_ms: maybePercentiles("Of successful streamed calls."),
};

export const summaryQuerySchema = Type.Object(requestFilterFields, { additionalProperties: false });

export const summarySchema = Type.Object({
  object: Type.Literal("request_summary"),
  from: Type.String({ format: "date-time" }),
  to: Type.String({ format: "date-time" }),
  partial: Type.Boolean({
    description:
      "Whether there were too many calls to count: then only the newest are counted, and `from` is the time of the first.",
  }),
  bucket_seconds: Type.Integer({ minimum: 1, description: "The length of each bucket." }),
  buckets: Type.Array(Type.Object({ from: Type.String({ format: "date-time" }), ...figureFields }), {
    description: "Oldest first, including empty buckets.",
  }),
  total: Type.Object(figureFields),
  errors: Type.Array(Type.Object({ code: Type.String(), count: count("Calls that ended with this code.") }), {
    description: "The most frequent error codes.",
  }),
});

export function presentSummary(summary: RequestSummary): Static<typeof summarySchema> {
  return {
    object: "request_summary",
    from: summary.from.toISOString(),
    to: summary.to.toISOString(),
    partial: summary.isPartial,
    bucket_seconds: summary.bucketSeconds,
    buckets: summary.buckets.map((bucket) => ({ from: bucket.from.toISOString(), ...presentFigures(bucket) })),
    total: presentFigures(summary.total),
    errors: [...summary.errors],
  };
}

function presentFigures({ count: all, byClass, hungUp, latency, firstToken }: SummaryFigures) {
  const [informed = 0, answered = 0, redirected = 0, refused = 0, failed = 0] = byClass;
  return {
    ...{ count: all, "1xx": informed, "2xx": answered, "3xx": redirected, "4xx": refused, "5xx": failed },
    ...{ hung_up: hungUp, latency_ms: latency, time_to_first_token_ms: firstToken },
  };
}

export function presentRequest(record: ReadRequest, contentIds: ReadonlySet<string>): Static<typeof requestSchema> {
  return {
    object: "request",
    id: record.id,
    created: toSeconds(record.createdAt),
    created_at: record.createdAt.toISOString(),
    client_request_id: record.clientRequestId,
    key_id: record.keyId,
    wire: record.wire,
    method: record.method,
    route: record.route,
    model: record.model,
    status: record.status,
    error_code: record.errorCode,
    error_message: record.error?.message ?? null,
    error_param: record.error?.param ?? null,
    ending: record.ending,
    latency_ms: record.durationMs,
    time_to_first_token_ms: record.firstTokenMs,
    tokens: presentTokens(record),
    charge: record.charge === null ? null : presentMoney(nano(record.charge)),
    charge_id: record.chargeId,
    task_id: record.taskId,
    user_agent: record.userAgent,
    replayed: record.isReplayed,
    has_content: contentIds.has(record.id),
  };
}

function presentTokens(record: RequestRecord): Static<typeof tokensSchema> | null {
  if (record.inputTokens === null) return null;
  return {
    input: record.inputTokens,
    cached_input: record.cachedInputTokens ?? 0,
    cache_writes: record.cacheWriteTokens ?? 0,
    audio_input: record.audioInputTokens ?? 0,
    output: record.outputTokens ?? 0,
    reasoning: record.reasoningTokens ?? 0,
    audio_output: record.audioOutputTokens ?? 0,
  };
}

export function presentGap({ from, to, lost }: RequestGap): Static<typeof gapSchema> {
  return { from: from.toISOString(), to: to.toISOString(), lost };
}
