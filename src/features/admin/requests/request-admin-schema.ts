import { type Static, Type } from "typebox";
import { nano, presentMoney } from "../../../lib/money.ts";
import { presentAmount } from "../../ledger/index.ts";
import { requestEndings, type ShownRequest } from "../../requests/index.ts";
import type { Task } from "../../tasks/index.ts";
import { createPageSchema, moneySchema } from "../../usage/index.ts";
import type { ExplainedRequest } from "./explain-request.ts";

const maybe = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const maybeText = maybe(Type.String());
const maybeCount = maybe(Type.Integer());
const maybeMoney = maybe(moneySchema("In the service's currency."));

const listedSchema = Type.Object({
  object: Type.Literal("request"),
  id: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  account_id: Type.String(),
  email: maybeText,
  key_id: Type.String(),
  method: Type.String(),
  route: maybeText,
  wire: maybeText,
  model: maybeText,
  status: Type.Integer(),
  error_code: maybeText,
  ending: Type.Enum(requestEndings),
  latency_ms: Type.Integer(),
  time_to_first_token_ms: maybeCount,
  input_tokens: maybeCount,
  output_tokens: maybeCount,
  charge: maybeMoney,
  upstream: Type.Union([Type.String(), Type.Null()], {
    description: "The upstream that responded, or the last one tried.",
  }),
  failed_attempt_count: Type.Integer(),
  task_id: maybeText,
});

export const requestListSchema = createPageSchema(listedSchema);

const attemptSchema = Type.Object({
  upstream: Type.String(),
  upstream_model: Type.String(),
  key_number: Type.Integer({ description: "The place of the vendor key in the provider's list." }),
  failure: Type.String({ description: "See the table of failures in the guide." }),
  status: maybeCount,
  code: maybeText,
  said: Type.Union([Type.String(), Type.Null()], { description: "The vendor's words, shortened and without keys." }),
  upstream_request_id: Type.Union([Type.String(), Type.Null()], {
    description: "The id that the vendor gave this attempt.",
  }),
  duration_ms: Type.Integer(),
});

const taskSchema = Type.Object({
  id: Type.String(),
  type: Type.String(),
  status: Type.String(),
  phase: Type.String(),
  upstream: maybeText,
  upstream_model: maybeText,
  error_code: maybeText,
  error_message: maybeText,
  created_at: Type.String({ format: "date-time" }),
  finished_at: maybe(Type.String({ format: "date-time" })),
});

export const requestSchema = Type.Object({
  ...listedSchema.properties,
  client_request_id: maybeText,
  upstream_request_id: Type.Union([Type.String(), Type.Null()], {
    description: "The id that the vendor gave the last attempt. `null` if it sent none.",
  }),
  error_message: maybeText,
  error_param: maybeText,
  user_agent: maybeText,
  replayed: Type.Boolean(),
  account: Type.Object({ id: Type.String(), email: maybeText, suspended: Type.Boolean() }),
  key: Type.Object({ id: Type.String(), name: maybeText, revoked: Type.Boolean() }),
  failed_attempts: Type.Array(attemptSchema),
  charged: maybe(
    Type.Object({
      id: Type.String(),
      unit: Type.Enum(["money", "text", "image", "video"]),
      amount: Type.String({ description: "In its unit." }),
      refunded: Type.String({ description: "In its unit." }),
    }),
  ),
  costs: Type.Array(
    Type.Object({
      upstream: Type.String(),
      upstream_model: Type.String(),
      amount: moneySchema("As the vendor reported it, else as the cost sheet computes it."),
      computed: maybeMoney,
    }),
  ),
  cost: maybeMoney,
  margin: Type.Union([moneySchema("Charge minus cost."), Type.Null()], {
    description: "`null` if the cost is not known.",
  }),
  currency: Type.String(),
  task: maybe(taskSchema),
});

export function presentListed(record: ShownRequest, email: string | null): Static<typeof listedSchema> {
  return {
    object: "request",
    id: record.id,
    created_at: record.createdAt.toISOString(),
    account_id: record.accountId,
    email,
    key_id: record.keyId,
    method: record.method,
    route: record.route,
    wire: record.wire,
    model: record.model,
    status: record.status,
    error_code: record.errorCode,
    ending: record.ending,
    latency_ms: record.durationMs,
    time_to_first_token_ms: record.firstTokenMs,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    charge: record.charge === null ? null : presentMoney(record.charge),
    upstream: record.upstream,
    failed_attempt_count: record.failedAttempts.length,
    task_id: record.taskId,
  };
}

export function presentExplained(explained: ExplainedRequest, currency: string): Static<typeof requestSchema> {
  const { request, account, key, task, charge, cost } = explained;
  const isMoney = charge?.unit === "money";
  return {
    ...presentListed(request, account?.email ?? null),
    upstream: request.upstream ?? task?.target?.providerId ?? null,
    client_request_id: request.clientRequestId,
    upstream_request_id: request.upstreamRequestId,
    error_message: request.error?.message ?? null,
    error_param: request.error?.param ?? null,
    user_agent: request.userAgent,
    replayed: request.isReplayed,
    account: { id: request.accountId, email: account?.email ?? null, suspended: account?.suspendedAt != null },
    key: { id: request.keyId, name: key?.name ?? null, revoked: key?.revokedAt != null },
    failed_attempts: request.failedAttempts.map((attempt) => ({
      upstream: attempt.upstream,
      upstream_model: attempt.upstreamModel,
      key_number: attempt.keyNumber,
      failure: attempt.kind,
      status: attempt.status,
      code: attempt.code,
      said: attempt.said,
      upstream_request_id: attempt.upstreamRequestId ?? null,
      duration_ms: Math.round(attempt.durationMs),
    })),
    charged:
      charge === null
        ? null
        : {
            id: charge.id,
            unit: charge.unit,
            amount: presentAmount(charge.unit, charge.paid),
            refunded: presentAmount(charge.unit, charge.refunded),
          },
    costs: (charge?.costs ?? []).map(({ providerId, upstreamModel, amount, computed }) => ({
      upstream: providerId,
      upstream_model: upstreamModel,
      amount: presentMoney(amount),
      computed: computed === null ? null : presentMoney(computed),
    })),
    cost: cost === null ? null : presentMoney(nano(cost)),
    margin:
      cost === null || charge === null || !isMoney ? null : presentMoney(nano(charge.paid - charge.refunded - cost)),
    currency,
    task: task === null ? null : presentTask(task),
  };
}

function presentTask(task: Task): Static<typeof taskSchema> {
  return {
    id: task.id,
    type: task.type,
    status: task.state,
    phase: task.phase,
    upstream: task.target?.providerId ?? null,
    upstream_model: task.target?.upstreamModel ?? null,
    error_code: task.error?.code ?? null,
    error_message: task.error?.message ?? null,
    created_at: task.createdAt.toISOString(),
    finished_at: task.finishedAt?.toISOString() ?? null,
  };
}
