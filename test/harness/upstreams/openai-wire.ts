import type { AnswerPlan, PlannedChoice, PlannedToolCall } from "./answer-plan.ts";
import type { UsageCounts } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { parseOpenAiAsk } from "./parse-openai-ask.ts";
import { isRecord } from "./vendor-refusal.ts";
import {
  answeredAt,
  type Envelope,
  listEdgeHeaders,
  nameServedModel,
  type VendorError,
  type VendorWire,
  type WireEvent,
  writeEvent,
} from "./vendor-wire.ts";

/** OpenAI's chat completions. `extraFields` are those that a compatible API also accepts. */
export function createOpenAiWire(extraFields: readonly string[]): VendorWire {
  return {
    basePath: "/openai/v1",
    isChatPath: (path) => path === "/chat/completions",
    findKey: ({ headers }) =>
      headers.authorization?.match(/^Bearer (\S+)$/)?.[1] ?? [headers["api-key"]].flat()[0] ?? null,
    findModel: ({ body }) => (isRecord(body) && typeof body.model === "string" ? body.model : null),
    parseAsk: ({ body }) => parseOpenAiAsk(body, extraFields),
    presentWhole,
    presentEvents,
    presentError: (error) => presentError(error),
    presentErrorEvent: (error) => writeEvent("done", presentError(error)),
    listHeaders,
    keyRefusal: { status: 401, message: "Incorrect API key provided." },
  };
}

function presentWhole(plan: AnswerPlan, envelope: Envelope): unknown {
  const usage = presentUsage(plan.usage, envelope);
  return {
    ...presentEnvelope("chat.completion", envelope),
    choices: plan.choices.map((choice) => ({
      index: choice.index,
      message: presentMessage(choice, envelope),
      logprobs: presentLogprobs(choice.text, envelope),
      finish_reason: presentFinish(choice),
      ...presentVendorFields(envelope),
    })),
    ...(usage === undefined ? {} : { usage }),
  };
}

function presentMessage(choice: PlannedChoice, envelope: Envelope): Record<string, unknown> {
  const content = choice.text.join("");
  return {
    role: "assistant",
    content: content === "" && (choice.toolCalls.length > 0 || choice.finish === "blocked") ? null : content,
    // Only compatible APIs return reasoning; OpenAI counts it and withholds it.
    ...(envelope.behaviour.thinking === undefined ? {} : { reasoning_content: choice.thinking.join("") }),
    ...(choice.toolCalls.length === 0 ? {} : { tool_calls: choice.toolCalls.map(presentToolCall) }),
    refusal: null,
    annotations: [],
  };
}

function presentToolCall({ id, name, fragments, isCustom }: PlannedToolCall): Record<string, unknown> {
  const input = fragments.join("");
  if (isCustom) return { id, type: "custom", custom: { name, input } };
  return { id, type: "function", function: { name, arguments: input } };
}

function presentEvents(plan: AnswerPlan, envelope: Envelope): WireEvent[] {
  const { ask, behaviour } = envelope;
  const place = behaviour.usageIn ?? "own-chunk";
  const usage = presentUsage(plan.usage, envelope);
  const shown = ask.wantsStreamUsage || place !== "own-chunk" ? usage : undefined;
  const chunk = (kind: WireEvent["kind"], choice: PlannedChoice, part: Record<string, unknown>): WireEvent => {
    const hasUsage = place === "every-chunk" || (place === "last-chunk" && kind === "finish");
    return writeEvent(kind, {
      ...presentEnvelope("chat.completion.chunk", envelope),
      choices: [
        {
          index: choice.index,
          delta: {},
          logprobs: null,
          finish_reason: null,
          ...part,
          ...presentVendorFields(envelope),
        },
      ],
      ...(shown === undefined ? {} : { usage: hasUsage ? shown : null }),
      obfuscation: canary,
    });
  };
  const starts = plan.choices.map((choice) =>
    chunk("start", choice, { delta: { role: "assistant", content: "", refusal: null } }),
  );
  const pieces = interleave(
    plan.choices.map((choice) => listDeltas(choice, envelope).map((part) => chunk("piece", choice, part))),
  );
  const finishes = plan.choices.map((choice) => chunk("finish", choice, { finish_reason: presentFinish(choice) }));
  const ownChunk = {
    ...presentEnvelope("chat.completion.chunk", envelope),
    choices: [],
    usage: shown,
    obfuscation: canary,
  };
  const usages = shown === undefined || place !== "own-chunk" ? [] : [writeEvent("usage", ownChunk)];
  return [...starts, ...pieces, ...finishes, ...usages, { kind: "done", data: "[DONE]" }];
}

function listDeltas(choice: PlannedChoice, envelope: Envelope): Record<string, unknown>[] {
  const thoughts = envelope.behaviour.thinking === undefined ? [] : choice.thinking;
  return [
    ...thoughts.map((thought) => ({ delta: { reasoning_content: thought } })),
    ...choice.text.map((text) => ({ delta: { content: text }, logprobs: presentLogprobs([text], envelope) })),
    ...choice.toolCalls.flatMap(({ id, name, fragments, isCustom }, index) => {
      const [kind, field] = isCustom ? ["custom", "input"] : ["function", "arguments"];
      const first = { index, id, type: kind, [kind]: { name, [field]: "" } };
      const rest = fragments.map((fragment) => ({ index, [kind]: { [field]: fragment } }));
      return [first, ...rest].map((call) => ({ delta: { tool_calls: [call] } }));
    }),
  ];
}

/** One of each in turn, like choices that are written concurrently. */
function interleave(lists: readonly WireEvent[][]): WireEvent[] {
  const rounds = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: rounds }, (_, round) => lists.flatMap((list) => list.slice(round, round + 1))).flat();
}

function presentEnvelope(object: string, { ask, behaviour, callNumber }: Envelope): Record<string, unknown> {
  return {
    id: `chatcmpl-${canary}-${callNumber}`,
    object,
    created: answeredAt.getTime() / 1000,
    model: nameServedModel(ask.model),
    service_tier: "default",
    system_fingerprint: `fp_${canary}`,
    ...(behaviour.hasVendorFields === true ? { provider: canary, [`x_${canary}`]: { host: `${canary}.example` } } : {}),
  };
}

function presentVendorFields({ behaviour }: Envelope): Record<string, unknown> {
  return behaviour.hasVendorFields === true ? { native_finish_reason: `${canary}_stop`, [`x_${canary}`]: 1 } : {};
}

function presentFinish({ finish }: PlannedChoice): string {
  if (typeof finish === "object") return finish.inVendorsWords;
  const words = {
    stop: "stop",
    "stop-sequence": "stop",
    length: "length",
    "tool-calls": "tool_calls",
    blocked: "content_filter",
  };
  return words[finish];
}

function presentLogprobs(tokens: readonly string[], { ask: { logprobCount } }: Envelope): unknown {
  if (logprobCount === null) return null;
  const present = (token: string, logprob: number) => ({ token, logprob, bytes: [...Buffer.from(token)] });
  return {
    content: tokens.map((token) => ({
      ...present(token, -0.25),
      top_logprobs: Array.from({ length: logprobCount }, (_, rank) =>
        present(rank === 0 ? token : `alt${rank}`, -0.25 - rank),
      ),
    })),
    refusal: null,
  };
}

function presentUsage(usage: UsageCounts | null, { behaviour }: Envelope): unknown {
  if (behaviour.vendorUsage !== undefined) return behaviour.vendorUsage;
  if (usage === null) return undefined;
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      audio_tokens: usage.inputAudioTokens,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.outputAudioTokens,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

const typesOfStatuses: Record<number, string> = { 402: "insufficient_quota", 429: "requests" };

function presentError({ status, message, code, type, param }: VendorError): unknown {
  const standard = typesOfStatuses[status] ?? (status < 500 ? "invalid_request_error" : "server_error");
  return { error: { message, type: type ?? standard, param, code: code ?? `${canary}_${status}` } };
}

function listHeaders(callNumber: number): Record<string, string | string[]> {
  return {
    ...listEdgeHeaders(callNumber),
    "x-request-id": `req_${canary}_${callNumber}`,
    "openai-organization": `${canary}-org`,
    "openai-project": `proj_${canary}`,
    "openai-processing-ms": "21",
    "openai-version": "2020-10-01",
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-reset-requests": "6ms",
    "x-ratelimit-limit-tokens": "30000000",
    "x-ratelimit-remaining-tokens": "29999977",
    "x-ratelimit-reset-tokens": "0s",
  };
}
