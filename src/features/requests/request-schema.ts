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
import { type RequestGap, type RequestRecord, requestEndings } from "./request-record.ts";
import type { SummaryFigures } from "./request-summary-store.ts";
import type { RequestSummary } from "./summarize-requests.ts";

const maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const maybeCount = (description: string) => Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const requestIdPattern = "^req_[0-9a-z]{26}$";
const idsMax = 50;

/** What requests can be looked for by. */
const requestFilterFields = {
  ...periodFields,
  ...chargeFilterFields,
  wire: Type.Optional(Type.Enum(endpointWires, { description: "Only calls that came in this form." })),
  status: Type.Optional(
    Type.String({
      pattern: "^([1-5]xx|[1-5][0-9]{2})$",
      examples: ["5xx", "429"],
      description: "A status, or a class of them.",
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
        description: `Only these requests: up to ${idsMax} ids with commas between them.`,
      }),
    ),
    ...listFields(requestIdPattern),
  },
  { additionalProperties: false },
);

const tokensSchema = Type.Object({
  input: count("All input, what was read from a cache and written to one included."),
  cached_input: count("What of it was read from a cache."),
  cache_writes: count("What of it was written to a cache."),
  audio_input: count("What of it was sound."),
  output: count("All output."),
  reasoning: count("What of it was reasoning."),
  audio_output: count("What of it was sound."),
});

export const requestSchema = Type.Object({
  object: Type.Literal("request"),
  id: Type.String({ examples: ["req_01kh2n8v7m3q5x9d4c6b8a0e2f"], description: "The `x-request-id` of the answer." }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  created_at: Type.String({ format: "date-time", description: "The same, to the millisecond." }),
  client_request_id: maybe("The `X-Client-Request-Id` that was sent with it."),
  key_id: Type.String({ description: "The key that it was made with." }),
  wire: Type.Union([Type.Enum(endpointWires), Type.Null()], {
    description: "In which form it came; `null` where there is nothing at its path.",
  }),
  method: Type.String({ examples: ["POST"] }),
  route: maybe("The path, with the names of its parameters; `null` where there is nothing at it."),
  model: maybe("The model, as it was asked for where it is none."),
  status: Type.Integer({
    description: "The status of the answer; 499 where the caller hung up before it began.",
  }),
  error_code: maybe("The code of the error that it was answered with, or broke off with."),
  ending: Type.Enum(requestEndings, {
    description: `\`answered\`; \`refused\` with a 4xx; \`failed\` with a 5xx; \`hung_up\` where the caller left before the end;
\`broken_off\` where the answer had begun when it failed.`,
  }),
  latency_ms: count("From the first byte of the request to the last of the answer."),
  time_to_first_token_ms: maybeCount("To the first piece of a streamed answer; `null` where none was streamed."),
  tokens: Type.Union([tokensSchema, Type.Null()], { description: "`null` where it used none." }),
  charge: Type.Union([moneySchema("What was paid in money."), Type.Null()], {
    description: "What was paid in money; `null` where nothing was charged, or not yet.",
  }),
  charge_id: maybe("The charge, which `GET /charges/{charge_id}` explains."),
  task_id: maybe("The task that it made."),
  user_agent: maybe("What the client calls itself, up to 256 characters."),
  replayed: Type.Boolean({ description: "The answer to an earlier request with the same `Idempotency-Key`." }),
  has_content: Type.Boolean({
    description: "Whether `GET /requests/{request_id}/content` tells something: the key's content log was on.",
  }),
});

const gapSchema = Type.Object({
  from: Type.String({ format: "date-time" }),
  to: Type.String({ format: "date-time" }),
  lost: Type.Integer({ minimum: 1, description: "How many calls of this time are not in the log." }),
});

export const requestListSchema = Type.Object({
  ...createPageSchema(requestSchema).properties,
  gaps: Type.Array(gapSchema, {
    description:
      "Times of which the log is not whole, newest first; empty as a rule. What was charged is always in `GET /charges`.",
  }),
});

const percentilesSchema = Type.Object({
  p50: count("Half took no longer."),
  p95: count("95 of 100."),
  p99: count("99 of 100."),
});
const maybePercentiles = (description: string) => Type.Union([percentilesSchema, Type.Null()], { description });

const figureFields = {
  count: count("All calls."),
  "1xx": count("With such a status."),
  "2xx": count("With such a status."),
  "3xx": count("With such a status."),
  "4xx": count("With such a status; 499, where the caller hung up before the answer began, is one."),
  "5xx": count("With such a status."),
  hung_up: count("Whose caller left before the end, whatever their status."),
  latency_ms: maybePercentiles("Of calls that were answered; `null` where there are none."),
  time_to_first_token_ms: maybePercentiles("Of those of them that were streamed."),
};

export const summaryQuerySchema = Type.Object(requestFilterFields, { additionalProperties: false });

export const summarySchema = Type.Object({
  object: Type.Literal("request_summary"),
  from: Type.String({ format: "date-time" }),
  to: Type.String({ format: "date-time" }),
  partial: Type.Boolean({
    description:
      "Whether there were too many calls to count all: then only the newest are, and `from` is when these begin.",
  }),
  bucket_seconds: Type.Integer({ minimum: 1, description: "How long each bucket is." }),
  buckets: Type.Array(Type.Object({ from: Type.String({ format: "date-time" }), ...figureFields }), {
    description: "Oldest first; those without calls are there too.",
  }),
  total: Type.Object(figureFields),
  errors: Type.Array(Type.Object({ code: Type.String(), count: count("How many calls ended with it.") }), {
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

export function presentRequest(record: RequestRecord, contentIds: ReadonlySet<string>): Static<typeof requestSchema> {
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
