import type { AnswerPlan, PlannedChoice } from "./answer-plan.ts";
import type { UsageCounts } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { parseAnthropicAsk, thoughtSignature } from "./parse-anthropic-ask.ts";
import { demand, isRecord } from "./vendor-refusal.ts";
import {
  answeredAt,
  type Envelope,
  listEdgeHeaders,
  nameServedModel,
  parseFragments,
  type VendorError,
  type VendorWire,
  type WireEvent,
  writeEvent,
} from "./vendor-wire.ts";

/** Anthropic's messages. */
export const anthropicWire: VendorWire = {
  basePath: "/anthropic/v1",
  isChatPath: (path) => path === "/messages",
  findKey: ({ headers }) =>
    [headers["x-api-key"]].flat()[0] ?? headers.authorization?.match(/^Bearer (\S+)$/)?.[1] ?? null,
  findModel: ({ body }) => (isRecord(body) && typeof body.model === "string" ? body.model : null),
  parseAsk({ headers, body }) {
    const isDated = /^\d{4}-\d\d-\d\d$/.test(String(headers["anthropic-version"]));
    demand(isDated, "anthropic-version", "anthropic-version: header is required");
    return parseAnthropicAsk(body);
  },
  presentWhole,
  presentEvents,
  presentError,
  presentErrorEvent: (error, callNumber) => writeEvent("done", presentError(error, callNumber), "error"),
  listHeaders,
  keyRefusal: { status: 401, message: "invalid x-api-key" },
};

function presentWhole(plan: AnswerPlan, envelope: Envelope): unknown {
  const usage = presentUsage(plan.usage, envelope);
  return {
    ...presentMessage(envelope),
    content: plan.choices.flatMap((choice) => listBlocks(choice).map(({ whole }) => whole)),
    ...presentStop(plan.choices[0]),
    ...(usage === undefined ? {} : { usage }),
  };
}

function presentMessage({ ask, behaviour, callNumber }: Envelope): Record<string, unknown> {
  return {
    id: `msg_${canary}_${callNumber}`,
    type: "message",
    role: "assistant",
    model: nameServedModel(ask.model),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    ...(behaviour.hasVendorFields === true ? { [`x_${canary}`]: { host: `${canary}.example` } } : {}),
  };
}

/** A content block in a whole answer, and its start and deltas in a stream. */
type Block = { whole: unknown; start: unknown; deltas: readonly unknown[] };

function listBlocks({ thinking, text, toolCalls }: PlannedChoice): Block[] {
  const thoughts: Block = {
    whole: { type: "thinking", thinking: thinking.join(""), signature: thoughtSignature },
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...thinking.map((thought) => ({ type: "thinking_delta", thinking: thought })),
      { type: "signature_delta", signature: thoughtSignature },
    ],
  };
  const said: Block = {
    whole: { type: "text", text: text.join(""), citations: null },
    start: { type: "text", text: "", citations: null },
    deltas: text.map((piece) => ({ type: "text_delta", text: piece })),
  };
  const calls = toolCalls.map(({ id, name, fragments }) => ({
    whole: { type: "tool_use", id, name, input: parseFragments(fragments) },
    start: { type: "tool_use", id, name, input: {} },
    deltas: ["", ...fragments].map((fragment) => ({ type: "input_json_delta", partial_json: fragment })),
  }));
  return [...(thinking.length > 0 ? [thoughts] : []), ...(text.length > 0 ? [said] : []), ...calls];
}

function presentEvents(plan: AnswerPlan, envelope: Envelope): WireEvent[] {
  const usage = presentUsage(plan.usage, envelope);
  const usageAtStart =
    isRecord(usage) && envelope.behaviour.vendorUsage === undefined ? { ...usage, output_tokens: 1 } : usage;
  const message = { ...presentMessage(envelope), ...(usage === undefined ? {} : { usage: usageAtStart }) };
  const name = (kind: WireEvent["kind"], type: string, rest: object = {}) => writeEvent(kind, { type, ...rest }, type);
  const blocks = plan.choices
    .flatMap(listBlocks)
    .flatMap(({ start, deltas }, index) => [
      name("start", "content_block_start", { index, content_block: start }),
      ...(index === 0 ? [name("start", "ping")] : []),
      ...deltas.map((delta) => name("piece", "content_block_delta", { index, delta })),
      name("start", "content_block_stop", { index }),
    ]);
  return [
    name("start", "message_start", { message }),
    ...blocks,
    name("finish", "message_delta", {
      delta: presentStop(plan.choices[0]),
      ...(usage === undefined ? {} : { usage }),
    }),
    name("done", "message_stop"),
  ];
}

function presentStop(choice: PlannedChoice | undefined): Record<string, unknown> {
  const finish = choice?.finish ?? "stop";
  const words = {
    stop: "end_turn",
    "stop-sequence": "stop_sequence",
    length: "max_tokens",
    "tool-calls": "tool_use",
    blocked: "refusal",
  };
  return {
    stop_reason: typeof finish === "object" ? finish.inVendorsWords : words[finish],
    stop_sequence: choice?.stopSequence ?? null,
    stop_details:
      finish === "blocked" ? { type: "refusal", category: "cyber", explanation: `${canary} refuses.` } : null,
  };
}

/** Anthropic counts cached tokens beside the input, not inside it. */
function presentUsage(usage: UsageCounts | null, { behaviour }: Envelope): unknown {
  if (behaviour.vendorUsage !== undefined) return behaviour.vendorUsage;
  if (usage === null) return undefined;
  return {
    input_tokens: usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.cacheWrite1hTokens,
      ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use: null,
    service_tier: "standard",
    inference_geo: `${canary}-1`,
  };
}

const typesOfStatuses: Record<number, string> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function presentError({ status, message, type }: VendorError, callNumber: number): unknown {
  const standard = typesOfStatuses[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { type: "error", error: { type: type ?? standard, message }, request_id: `req_${canary}_${callNumber}` };
}

function listHeaders(callNumber: number): Record<string, string | string[]> {
  const reset = answeredAt.toISOString();
  return {
    ...listEdgeHeaders(callNumber),
    "request-id": `req_${canary}_${callNumber}`,
    "anthropic-organization-id": `${canary}-org`,
    "anthropic-ratelimit-requests-limit": "4000",
    "anthropic-ratelimit-requests-remaining": "3999",
    "anthropic-ratelimit-requests-reset": reset,
    "anthropic-ratelimit-input-tokens-limit": "400000",
    "anthropic-ratelimit-input-tokens-remaining": "399000",
    "anthropic-ratelimit-input-tokens-reset": reset,
    "anthropic-ratelimit-output-tokens-limit": "80000",
    "anthropic-ratelimit-output-tokens-remaining": "79000",
    "anthropic-ratelimit-output-tokens-reset": reset,
  };
}
