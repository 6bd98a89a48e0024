import type { Ask } from "./answer-plan.ts";
import type { UsageCounts } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { parseOpenAiAsk } from "./parse-openai-ask.ts";
import { demand, demandRecord, isRecord, VendorRefusal } from "./vendor-refusal.ts";
import type { Envelope, VendorError, VendorWire, WireEvent } from "./vendor-wire.ts";

type Fields = Record<string, unknown>;

/**
 * An OpenAI-compatible vendor, by its own documentation. A field that it would ignore counts as refused: callers must
 * never get an answer without what they asked for.
 */
type Clone = {
  /** The fields of a request that it acts on. */
  fields: string;
  /** Fields of messages by role, besides `role` and `content`. */
  messages?: Partial<Record<string, string>>;
  /** Parts of a user's message besides text. */
  parts: string;
  /** The status of its refusals. */
  status?: number;
  /** What it demands of values. */
  check?(body: Fields): void;
  /** The request in OpenAI's fields. */
  translate?(body: Fields): Fields;
  presentError?(error: VendorError): unknown;
  presentUsage?(usage: UsageCounts): Fields;
  usageIn?: "own-chunk" | "last-chunk" | "x_groq";
};

const sampling = "temperature top_p stop";
const penalties = "frequency_penalty presence_penalty";
const probabilities = "logprobs top_logprobs";
const calls = { assistant: "tool_calls", tool: "tool_call_id" };
const named = { user: "name", system: "name", assistant: "tool_calls name", tool: "tool_call_id name" };

function demandOneOf(value: unknown, param: string, words: readonly string[]): void {
  const word = isRecord(value) ? value.type : value;
  demand(word === undefined || words.includes(String(word)), param, `Input should be ${words.join(" or ")}`);
}

const functionChoices = ["none", "auto", "required", "function"];

export const clones = {
  mistral: {
    fields: `${sampling} ${penalties} n random_seed response_format tools tool_choice parallel_tool_calls prediction reasoning_effort safe_prompt metadata max_tokens`,
    messages: { assistant: "tool_calls prefix", tool: "tool_call_id name" },
    parts: "image_url",
    status: 422,
    check({ tool_choice: choice, reasoning_effort: effort, tools = [], messages }) {
      demandOneOf(choice, "tool_choice", ["auto", "none", "any", "required", "function"]);
      demandOneOf(effort, "reasoning_effort", ["none", "high"]);
      for (const tool of tools as Fields[]) {
        demand(isRecord(tool.function) && isRecord(tool.function.parameters), "tools", "Field required");
      }
      for (const { tool_calls: made = [], tool_call_id: id } of messages as Fields[]) {
        for (const word of [...(made as Fields[]).map((call) => call.id), ...(id === undefined ? [] : [id])]) {
          demand(/^[a-zA-Z0-9]{9}$/.test(String(word)), "messages", "Tool call id must be 9 letters and digits.");
        }
      }
    },
    translate: ({ random_seed: seed, tool_choice: choice, ...body }) => ({
      ...body,
      ...(seed === undefined ? {} : { seed }),
      ...(choice === undefined ? {} : { tool_choice: choice === "any" ? "required" : choice }),
    }),
    presentError: ({ message, param }) => ({
      object: "error",
      message: {
        detail: [{ type: "extra_forbidden", loc: ["body", ...(param?.split(".") ?? [])], msg: message, input: null }],
      },
      ...{ type: "invalid_request_error", param: null, code: null },
    }),
    presentUsage: ({ cachedInputTokens }) => ({ num_cached_tokens: cachedInputTokens }),
    usageIn: "last-chunk",
  },
  groq: {
    fields: `${sampling} seed response_format tools tool_choice parallel_tool_calls functions function_call user reasoning_effort service_tier stream_options max_completion_tokens max_tokens`,
    messages: { ...calls, assistant: "tool_calls function_call", function: "name" },
    parts: "image_url",
    check({ tool_choice: choice, reasoning_effort: effort, service_tier: tier }) {
      demandOneOf(choice, "tool_choice", functionChoices);
      demandOneOf(effort, "reasoning_effort", ["none", "default", "low", "medium", "high"]);
      demandOneOf(tier, "service_tier", ["auto", "on_demand", "flex", "performance"]);
    },
    usageIn: "x_groq",
  },
  cohere: {
    fields: `${sampling} ${penalties} seed response_format tools reasoning_effort max_tokens`,
    messages: calls,
    parts: "image_url",
    check: ({ reasoning_effort: effort }) => demandOneOf(effort, "reasoning_effort", ["none", "high"]),
    presentError: ({ message }) => ({ id: `${canary}-id`, message }),
    usageIn: "last-chunk",
  },
  xai: {
    fields: `${sampling} ${penalties} ${probabilities} seed n response_format tools tool_choice parallel_tool_calls user reasoning_effort web_search_options stream_options max_completion_tokens max_tokens`,
    messages: named,
    parts: "image_url",
    check({ tool_choice: choice, reasoning_effort: effort }) {
      demandOneOf(choice, "tool_choice", functionChoices);
      demandOneOf(effort, "reasoning_effort", ["none", "low", "medium", "high", "xhigh"]);
    },
    presentError: ({ message }) => ({ code: "Client specified an invalid argument", error: message }),
    presentUsage: ({ inputTokens, outputTokens, reasoningTokens }) => ({
      completion_tokens: outputTokens - reasoningTokens,
      total_tokens: inputTokens + outputTokens,
    }),
  },
  zai: {
    fields: `temperature top_p stop tools tool_choice response_format thinking reasoning_effort max_tokens user_id`,
    messages: calls,
    parts: "image_url",
    check({ stop, tool_choice: choice, response_format: format, reasoning_effort: effort }) {
      demand(stop === undefined || (Array.isArray(stop) && stop.length === 1), "stop", "stop is a list of one");
      demandOneOf(choice, "tool_choice", ["auto"]);
      demandOneOf(format, "response_format", ["text", "json_object"]);
      demandOneOf(effort, "reasoning_effort", ["minimal", "low", "medium", "high", "xhigh", "max"]);
    },
    translate: ({ thinking: _, ...body }) => body,
    presentError: ({ message }) => ({ error: { code: "1210", message } }),
    usageIn: "last-chunk",
  },
  huggingface: {
    fields: `${sampling} ${penalties} ${probabilities} seed response_format tools tool_choice reasoning_effort stream_options max_tokens`,
    messages: named,
    parts: "image_url",
    status: 422,
    check: ({ tool_choice: choice }) => demandOneOf(choice, "tool_choice", functionChoices),
    presentError: ({ message }) => ({ error: message, error_type: "validation" }),
  },
  openrouter: {
    fields: `${sampling} ${penalties} ${probabilities} logit_bias seed response_format tools tool_choice parallel_tool_calls reasoning_effort verbosity user prediction prompt_cache_key modalities audio web_search_options top_k min_p provider stream_options max_tokens`,
    messages: { ...named, developer: "name" },
    parts: "image_url input_audio file",
    check({ provider, tool_choice: choice }) {
      // Otherwise hosts that ignore a field are chosen too.
      demand(isRecord(provider) && provider.require_parameters === true, "provider", "A field may be ignored.");
      demandOneOf(choice, "tool_choice", functionChoices);
    },
    translate: ({ provider: _, top_k: __, min_p: ___, ...body }) => body,
    presentError: ({ message, status }) => ({ error: { message, code: status }, user_id: `user_${canary}` }),
  },
  deepseek: {
    fields: `${sampling} ${penalties} ${probabilities} response_format tools tool_choice thinking reasoning_effort stream_options max_tokens`,
    messages: named,
    parts: "",
    check({ tool_choice: choice, response_format: format, reasoning_effort: effort }) {
      demandOneOf(choice, "tool_choice", functionChoices);
      demandOneOf(format, "response_format", ["text", "json_object"]);
      demandOneOf(effort, "reasoning_effort", ["minimal", "low", "medium", "high", "xhigh", "max"]);
    },
    translate: ({ thinking: _, ...body }) => body,
    presentUsage: ({ inputTokens, cachedInputTokens }) => ({
      prompt_cache_hit_tokens: cachedInputTokens,
      prompt_cache_miss_tokens: inputTokens - cachedInputTokens,
    }),
  },
  vllm: {
    fields: `${sampling} ${penalties} ${probabilities} logit_bias seed n response_format tools tool_choice parallel_tool_calls user reasoning_effort top_k min_p stream_options max_tokens max_completion_tokens`,
    messages: named,
    parts: "image_url input_audio",
    check({ tool_choice: choice, reasoning_effort: effort }) {
      demandOneOf(choice, "tool_choice", functionChoices);
      demandOneOf(effort, "reasoning_effort", ["none", "low", "medium", "high"]);
    },
    translate: ({ top_k: _, min_p: __, ...body }) => body,
    presentError: ({ message, status }) => ({
      object: "error",
      message,
      type: "BadRequestError",
      param: null,
      code: status,
    }),
  },
  ollama: {
    fields: `${sampling} ${penalties} ${probabilities} seed response_format tools reasoning_effort stream_options max_tokens`,
    messages: calls,
    parts: "image_url",
    check: ({ reasoning_effort: effort }) => demandOneOf(effort, "reasoning_effort", ["none", "low", "medium", "high"]),
  },
} satisfies Record<string, Clone>;

export type CloneName = keyof typeof clones;

/** A clone under its own path: chat only, with its own strictness, usage and errors. */
export function createCloneWire(openai: VendorWire, name: CloneName): VendorWire {
  const clone: Clone = clones[name];
  const show = (envelope: Envelope, usage: UsageCounts | null): Envelope => ({
    ...envelope,
    behaviour: {
      ...(clone.usageIn === "last-chunk" ? { usageIn: clone.usageIn } : {}),
      ...(usage === null ? {} : { vendorUsage: { ...presentCounts(usage), ...clone.presentUsage?.(usage) } }),
      ...envelope.behaviour,
    },
  });
  return {
    ...openai,
    basePath: findClonePath(name),
    parseAsk: ({ body }) => parseCloneAsk(demandRecord(body, "body"), clone),
    presentWhole: (plan, envelope) => openai.presentWhole(plan, show(envelope, plan.usage)),
    presentEvents: (plan, envelope) => {
      const events = openai.presentEvents(plan, show(envelope, plan.usage));
      return clone.usageIn === "x_groq" ? events.map(moveUsage) : events;
    },
    ...(clone.presentError === undefined ? {} : { presentError: clone.presentError }),
  };
}

export function findClonePath(name: CloneName): string {
  return `/clones/${name}/v1`;
}

function presentCounts({ inputTokens, outputTokens, reasoningTokens }: UsageCounts): Fields {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(reasoningTokens === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}

/** Groq's last chunk has its usage in a field of its own. */
function moveUsage(event: WireEvent): WireEvent {
  if (event.kind !== "usage") return event;
  const { usage, ...chunk } = JSON.parse(event.data);
  return { ...event, data: JSON.stringify({ ...chunk, x_groq: { id: `req_${canary}`, usage } }) };
}

function parseCloneAsk(body: Fields, clone: Clone): Ask {
  try {
    demandOnly(body, `model messages stream ${clone.fields}`, "");
    for (const [index, message] of (body.messages as Fields[]).entries()) checkMessage(message, index, clone);
    for (const [index, tool] of ((body.tools ?? []) as Fields[]).entries()) {
      demand(tool.type === "function", `tools.${index}.type`, "Input should be 'function'");
      demandOnly(tool.function as Fields, "name description parameters strict", `tools.${index}.function.`);
    }
    clone.check?.(body);
    return parseOpenAiAsk(clone.translate?.(body) ?? body, ["prefix"]);
  } catch (error) {
    if (!(error instanceof VendorRefusal)) throw error;
    throw new VendorRefusal(error.message, { status: clone.status ?? 400, param: error.param });
  }
}

function checkMessage(message: Fields, index: number, { messages = calls, parts }: Clone): void {
  const role = String(message.role);
  const place = `messages.${index}.`;
  const isRole = ["system", "user", "assistant", "tool"].includes(role) || messages[role] !== undefined;
  demand(isRole, `${place}role`, `Unknown role ${role}`);
  demandOnly(message, `role content ${messages[role] ?? ""}`, place);
  for (const part of (Array.isArray(message.content) ? message.content : []) as Fields[]) {
    demandOnly(part, "type text image_url input_audio file", `${place}content.`);
    demand(`text ${parts}`.split(" ").includes(String(part.type)), `${place}content`, `Unknown part ${part.type}`);
  }
}

function demandOnly(record: Fields, known: string, place: string): void {
  const names = known.split(" ");
  for (const field of Object.keys(record)) {
    demand(names.includes(field), place + field, `Extra inputs are not permitted: ${place}${field}`);
  }
}
