import type { AnswerPlan, Ask, PlannedChoice } from "./answer-plan.ts";
import { canary } from "./canary.ts";
import {
  demand,
  demandKnownFields,
  demandList,
  demandRange,
  demandRecord,
  demandText,
  isRecord,
} from "./vendor-refusal.ts";
import {
  answeredAt,
  countInputTokens,
  type Envelope,
  nameServedModel,
  type VendorWire,
  type WireEvent,
  writeEvent,
} from "./vendor-wire.ts";

const knownFields = [
  ..."best_of echo frequency_penalty logit_bias logprobs max_tokens model n presence_penalty prompt seed stop".split(
    " ",
  ),
  ..."stream stream_options suffix temperature top_p user".split(" "),
];

const outputTokensDefault = 16;

/** OpenAI's legacy completions, under the address of its chat completions, whose keys, headers and errors it shares. */
export function createOpenAiCompletionsWire(chat: VendorWire): VendorWire {
  return {
    ...chat,
    isChatPath: (path) => path === "/completions",
    parseAsk: ({ body }) => parseAsk(body),
    presentWhole,
    presentEvents,
  };
}

/** Validates like OpenAI. The answer echoes the prompt and the suffix around a gap. */
function parseAsk(value: unknown): Ask {
  const body = demandRecord(value, "body");
  demandKnownFields(body, knownFields);
  demandRange(body.max_tokens, "max_tokens", [1, 1e9]);
  demandRange(body.logprobs, "logprobs", [0, 5]);
  demandRange(body.n, "n", [1, 128]);
  const prompts = typeof body.prompt === "string" ? [body.prompt] : demandList(body.prompt, "prompt").map(String);
  demand(prompts.length === 1, "prompt", "This fake takes one prompt.");
  const isStreamed = body.stream === true;
  const options = isRecord(body.stream_options) ? body.stream_options : {};
  demand(isStreamed || !isRecord(body.stream_options), "stream_options", "Only allowed when 'stream' is enabled.");
  const suffix = body.suffix === undefined ? "" : ` … ${demandText(body.suffix, "suffix")}`;
  return {
    model: demandText(body.model, "model"),
    isStreamed,
    prompt: `${prompts[0]}${suffix}`,
    toolResult: null,
    inputTokens: countInputTokens(prompts, suffix),
    outputTokensMax: Number(body.max_tokens ?? outputTokensDefault),
    choiceCount: Number(body.n ?? 1),
    stopSequences: [body.stop ?? []].flat().map(String),
    tools: [],
    toolChoice: "none",
    isParallel: false,
    wantsThinking: false,
    jsonSchema: null,
    logprobCount: typeof body.logprobs === "number" ? body.logprobs : null,
    wantsStreamUsage: options.include_usage === true,
  };
}

function presentWhole(plan: AnswerPlan, envelope: Envelope): unknown {
  return {
    ...presentEnvelope(envelope),
    choices: plan.choices.map((choice) => presentChoice(choice, choice.text, envelope, presentFinish(choice))),
    ...(plan.usage === null ? {} : { usage: presentUsage(plan) }),
  };
}

function presentEvents(plan: AnswerPlan, envelope: Envelope): WireEvent[] {
  const head = presentEnvelope(envelope);
  const pieces = plan.choices.flatMap((choice) =>
    choice.text.map((text) =>
      writeEvent("piece", { ...head, choices: [presentChoice(choice, [text], envelope, null)] }),
    ),
  );
  const finishes = plan.choices.map((choice) =>
    writeEvent("finish", { ...head, choices: [presentChoice(choice, [], envelope, presentFinish(choice))] }),
  );
  const usages =
    envelope.ask.wantsStreamUsage && plan.usage !== null
      ? [writeEvent("usage", { ...head, choices: [], usage: presentUsage(plan) })]
      : [];
  return [...pieces, ...finishes, ...usages, { kind: "done", data: "[DONE]" }];
}

function presentEnvelope({ ask, callNumber }: Envelope): Record<string, unknown> {
  return {
    id: `cmpl-${canary}-${callNumber}`,
    object: "text_completion",
    created: answeredAt.getTime() / 1000,
    model: nameServedModel(ask.model),
    system_fingerprint: `fp_${canary}`,
  };
}

function presentChoice(
  { index }: PlannedChoice,
  text: readonly string[],
  { ask: { logprobCount } }: Envelope,
  finishReason: string | null,
): Record<string, unknown> {
  const logprobs = {
    tokens: text,
    token_logprobs: text.map(() => -0.25),
    top_logprobs: text.map((token) => ({ [token]: -0.25 })),
    text_offset: text.map((_, at) => at),
  };
  return {
    text: text.join(""),
    index,
    logprobs: logprobCount === null ? null : logprobs,
    finish_reason: finishReason,
  };
}

function presentFinish({ finish }: PlannedChoice): string {
  if (typeof finish === "object") return finish.inVendorsWords;
  if (finish === "length") return "length";
  return finish === "blocked" ? "content_filter" : "stop";
}

function presentUsage({ usage }: AnswerPlan): Record<string, number> {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}
