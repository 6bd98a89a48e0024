import { JsonShape } from "../../lib/json-shape.ts";
import { confirmText } from "../../lib/json-text.ts";
import { findUnreadFacts, isUnread, leaveUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { describeUnknownField } from "../../platform/errors/describe-unknown-field.ts";
import type { ChatRequest, ChatTool, ReasoningEffort } from "../../providers/chat-request.ts";
import type { ChatObstacle } from "../../providers/contract.ts";
import type { CallersPlaces } from "../chat/index.ts";
import { type Fields, isObject, needObject, needObjects, needText, refuse } from "./message-error.ts";
import { effortNames, messageNames } from "./message-names.ts";
import type { MessageOutline } from "./outline-message.ts";
import { dropUnsignedThinking, readCacheControl, readTurns } from "./read-message-turns.ts";

/** The properties of the requested model that affect reading; `null` for an unknown model. */
export type MessageModel = {
  isReasoning: boolean;
  outputTokensMax: number | null;
  /** Whether one of its routes names this extra field. */
  takesField(field: string): boolean;
};

/** A Messages request in the chat format. */
export type ReadMessage = {
  request: ChatRequest;
  /** The request for upstreams with Anthropic's API. */
  body: Fields;
  /** The first feature that only those upstreams support. */
  obstacle: ChatObstacle | null;
  places: CallersPlaces;
  /** How much longer than the body the input may be, because it references files or URLs. */
  referencedBytes: number;
};

const jsonDepthMax = 64;
/** About the size of a long document. */
const bytesPerReference = 200_000;

/** Fields that are translated, ignored, or supported only by Anthropic upstreams. */
const knownFields: ReadonlySet<string> = new Set([
  ..."model max_tokens messages system stream stop_sequences temperature top_p metadata service_tier".split(" "),
  ..."tools tool_choice thinking output_config output_format cache_control".split(" "),
  // Ignored: chat has no equivalent.
  ..."context_management diagnostics".split(" "),
  ..."top_k speed container mcp_servers inference_geo fallbacks fallback_credit_token thread compaction".split(" "),
]);

/** Fields that only Anthropic upstreams support, and a test for values that ask for the default. */
const nativeFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  top_k: () => false,
  speed: (value) => value === "standard",
  container: () => false,
  mcp_servers: (value) => Array.isArray(value) && value.length === 0,
  inference_geo: () => false,
  fallbacks: () => false,
  fallback_credit_token: () => false,
  thread: () => false,
  compaction: () => false,
};

/** A Messages request, whether it is parsed or outlined. Throws if it is invalid. */
export function readMessageRequest(body: Fields, model: MessageModel | null): ReadMessage {
  const outline = findUnreadFacts(body) as MessageOutline | null;
  return outline === null ? readParsed(body, model) : readOutlined(body, outline, model);
}

/** The conversation is translated only if it is needed: most requests are forwarded as they are. */
function readOutlined(body: Fields, { contents }: MessageOutline, model: MessageModel | null): ReadMessage {
  requireFlat(body);
  let whole: ReadMessage | null = null;
  const translate = (): ReadMessage => {
    // A copy is parsed.
    whole ??= readParsed({ ...body }, model);
    return whole;
  };
  const request = { model: String(body.model), messages: [], ...readFields(body, model) } as ChatRequest;
  Object.assign(request, readToolChoice(body.tool_choice));
  addForeignFields(request, body, model);
  const tools = { read: () => translate().request.tools, text: null };
  leaveUnread(
    request,
    { messages: { read: () => translate().request.messages, text: null }, ...(contents.tools > 0 ? { tools } : {}) },
    contents,
  );
  return {
    request,
    body: prepareBody(body, { model, hasUnsignedThinking: false }),
    obstacle: findNativeField(body),
    places: {
      get messages() {
        return translate().places.messages;
      },
      get tools() {
        return translate().places.tools;
      },
      names: chooseNames(body),
    },
    referencedBytes: 0,
  };
}

function readParsed(body: Fields, model: MessageModel | null): ReadMessage {
  requireFlat(body);
  const turns = body.messages as readonly unknown[];
  const read = readTurns(body.system, turns);
  if (read.messages.length === 0 && read.obstacle === null) {
    refuse("invalid_parameter", "messages", "`messages` has no content.");
  }
  const request: ChatRequest = {
    model: String(body.model),
    messages: read.messages,
    ...readFields(body, model),
  };
  const tools = readTools(body.tools, read.foundTools);
  if (tools.tools.length > 0) request.tools = tools.tools;
  const choice = readToolChoice(body.tool_choice);
  // Beside tools that only the vendor has, only the vendor can apply the choice.
  if (tools.obstacle === null) Object.assign(request, choice);
  addForeignFields(request, body, model);
  const last = read.messages.at(-1);
  if (last !== undefined && last.role !== "function" && last.cache_control === undefined) {
    Object.assign(last, readCacheControl(body));
  }
  return {
    request,
    body: prepareBody(body, { model, hasUnsignedThinking: read.hasUnsignedThinking }),
    obstacle: findNativeField(body) ?? tools.obstacle ?? read.obstacle,
    places: { messages: read.places, tools: tools.places, names: chooseNames(body) },
    referencedBytes: (read.references + tools.references) * bytesPerReference,
  };
}

/** The fields beside the conversation and the tools. */
function readFields(body: Fields, model: MessageModel | null): Partial<ChatRequest> {
  return {
    max_tokens: limitOutput(Number(body.max_tokens), model),
    ...readOptions(body),
    ...readFormat(body),
    ...(model?.isReasoning === false ? {} : readThinking(body)),
  };
}

function chooseNames(body: Fields): CallersPlaces["names"] {
  return hasEffort(body) ? effortNames : messageNames;
}

/** An unknown field passes only if a route of the model names it. */
function addForeignFields(request: ChatRequest, body: Fields, model: MessageModel | null): void {
  for (const field in body) {
    if (knownFields.has(field)) continue;
    if (model?.takesField(field) === false) {
      refuse("unknown_parameter", field, describeUnknownField(field, [...knownFields]));
    }
    request[field] = body[field];
  }
}

/** Rejects values nested too deep. */
function requireFlat(body: Fields): void {
  const shape = new JsonShape();
  for (const field in body) {
    if (isUnread(body, field)) continue;
    shape.names += 1;
    shape.add(body[field], jsonDepthMax);
    if (!shape.isTooDeep) continue;
    refuse("invalid_parameter", field, `\`${field}\` is nested more than ${jsonDepthMax} levels deep.`);
  }
  confirmText(body, shape);
}

/** Caps `max_tokens` at the model's limit: clients send the number from their own model list. */
function limitOutput(asked: number, model: MessageModel | null): number {
  return model?.outputTokensMax == null ? asked : Math.min(asked, model.outputTokensMax);
}

function readOptions(body: Fields): Partial<ChatRequest> {
  const { stream, temperature, top_p, stop_sequences: stops, metadata, service_tier: tier } = body;
  const userId = isObject(metadata) ? metadata.user_id : null;
  return {
    ...(stream === true ? { stream: true } : {}),
    ...(typeof temperature === "number" ? { temperature } : {}),
    ...(typeof top_p === "number" ? { top_p } : {}),
    ...(Array.isArray(stops) && stops.length > 0 ? { stop: stops.map(String) } : {}),
    ...(typeof userId === "string" ? { user: userId } : {}),
    ...(tier === "auto" || tier === "standard_only" ? { service_tier: tier === "auto" ? "auto" : "default" } : {}),
  };
}

function readToolChoice(choice: unknown): Partial<ChatRequest> {
  if (!isObject(choice)) return {};
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  switch (choice.type) {
    case "auto":
      return { tool_choice: "auto", ...parallel };
    case "any":
      return { tool_choice: "required", ...parallel };
    case "none":
      return { tool_choice: "none" };
    default: {
      const name = needText(choice, "name", "tool_choice");
      return { tool_choice: { type: "function", function: { name } }, ...parallel };
    }
  }
}

function readFormat({ output_config: config, output_format: old }: Fields): Partial<ChatRequest> {
  const format = isObject(config) && isObject(config.format) ? config.format : old;
  if (!isObject(format)) return {};
  const schema = needObject(format, "schema", "output_config.format") as Record<string, unknown>;
  return { response_format: { type: "json_schema", json_schema: { name: "output", schema, strict: true } } };
}

/** Maps a thinking budget to an effort, because chat has no budget. */
const effortsOfBudgets: readonly (readonly [tokensMax: number, effort: ReasoningEffort])[] = [
  [4_096, "low"],
  [16_384, "medium"],
  [Number.POSITIVE_INFINITY, "high"],
];

const efforts: ReadonlySet<unknown> = new Set(["low", "medium", "high", "xhigh", "max"]);

/** An explicit effort wins, then the budget. Adaptive thinking sets nothing. */
function readThinking({ thinking, output_config: config }: Fields): Partial<ChatRequest> {
  const { type, budget_tokens: budget } = isObject(thinking) ? thinking : {};
  if (type === "disabled") return { reasoning_effort: "none" };
  const effort = isObject(config) ? config.effort : null;
  if (efforts.has(effort)) return { reasoning_effort: effort as ReasoningEffort };
  if (type !== "enabled") return {};
  const [, found] = effortsOfBudgets.find(([tokensMax]) => Number(budget) <= tokensMax) ?? [];
  return found === undefined ? {} : { reasoning_effort: found };
}

type ReadTools = { tools: ChatTool[]; places: string[]; obstacle: ChatObstacle | null; references: number };

function readTools(tools: unknown, foundTools: ReadonlySet<string>): ReadTools {
  const read: ReadTools = { tools: [], places: [], obstacle: null, references: 0 };
  if (!Array.isArray(tools)) return read;
  for (const [index, tool] of needObjects(tools, "tools").entries()) {
    const place = `tools[${index}]`;
    const type = tool.type ?? "custom";
    if (type === "custom") {
      const offered = readTool(tool, place);
      // Deferred tools are hidden from the model until a search has found them.
      if (tool.defer_loading !== true || foundTools.has(String(tool.name))) {
        read.tools.push(offered);
        read.places.push(place);
      }
      if (!isCalledByCode(tool)) continue;
      const message = "This model does not support tool calls from code.";
      read.obstacle ??= { param: `${place}.allowed_callers`, message };
    } else {
      read.references += 1;
      read.obstacle ??= { param: place, message: `This model does not have the tool ${String(type)}.` };
    }
  }
  return read;
}

function isCalledByCode({ allowed_callers: callers }: Fields): boolean {
  return Array.isArray(callers) && callers.some((caller) => caller !== "direct");
}

function readTool(tool: Fields, place: string): ChatTool {
  const { description, strict } = tool;
  return {
    type: "function",
    function: {
      name: needText(tool, "name", place),
      ...(typeof description === "string" ? { description } : {}),
      parameters: needObject(tool, "input_schema", place) as Record<string, unknown>,
      ...(strict === true ? { strict } : {}),
    },
    ...readCacheControl(tool),
  };
}

function findNativeField(body: Fields): ChatObstacle | null {
  for (const field in nativeFields) {
    const value = body[field];
    if (value === undefined || value === null || nativeFields[field]?.(value) === true) continue;
    return { param: field, message: `This model does not take \`${field}\`.` };
  }
  return null;
}

/** The request for an Anthropic upstream, without fields that it or the model does not support. */
function prepareBody(
  body: Fields,
  { model, hasUnsignedThinking }: { model: MessageModel | null; hasUnsignedThinking: boolean },
): Fields {
  const isThinkingDropped = model?.isReasoning === false && (body.thinking !== undefined || hasEffort(body));
  const isSilent = (field: string): boolean => field === "diagnostics" || nativeFields[field]?.(body[field]) === true;
  const silent = Object.keys(body).filter(isSilent);
  if (!isThinkingDropped && !hasUnsignedThinking && silent.length === 0) return body;
  const { thinking, output_config: config, messages, ...rest } = body;
  const turns = messages as readonly unknown[];
  return {
    ...rest,
    // The vendor does not know our message ids, so it cannot diagnose; defaults need not be sent.
    ...Object.fromEntries(silent.map((field) => [field, undefined])),
    messages: hasUnsignedThinking ? dropUnsignedThinking(turns) : turns,
    ...(thinking === undefined || isThinkingDropped ? {} : { thinking }),
    ...(config === undefined ? {} : { output_config: isThinkingDropped ? dropEffort(config) : config }),
  };
}

function hasEffort({ output_config: config }: Fields): boolean {
  return isObject(config) && config.effort != null;
}

function dropEffort(config: unknown): unknown {
  if (!isObject(config)) return config;
  const { effort: _, ...rest } = config;
  return rest;
}

/** The API version that the caller expects. Its format has never changed, so the value has no effect. */
export function checkVersion(version: string | string[] | undefined): void {
  if (version === undefined || (typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version))) return;
  throw new AppError("invalid_parameter", "`anthropic-version` must be a date, such as 2023-06-01.", {
    param: "anthropic-version",
  });
}
