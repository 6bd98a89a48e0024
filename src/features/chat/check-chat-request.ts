import { JsonShape } from "../../lib/json-shape.ts";
import { confirmText } from "../../lib/json-text.ts";
import { isGiven, isUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { describeUnknownField } from "../../platform/errors/describe-unknown-field.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { checkPublicUrl } from "../../platform/net/check-public-url.ts";
import { findContents } from "../../providers/chat-contents.ts";
import { type ChatRequest, nameTool } from "../../providers/chat-request.ts";
import type { Capability, ExtraParameter, Model } from "../catalog/index.ts";
import { chatFields, vendorFields } from "./chat-request-schema.ts";
import { fieldsThatMayBeNull } from "./drop-empty-fields.ts";
import { explainRawImage } from "./explain-raw-image.ts";
import type { InputSize } from "./measure-input.ts";

const jsonDepthMax = 64;
/** Even the densest tokens have fewer characters than this on average, so a longer text cannot fit. */
const charactersPerTokenMax = 16;
const imagePattern = /^data:image\/(png|jpeg|jpg|webp|gif);base64,[A-Za-z0-9+/=\s]+$/;

/** Rejects what the schema accepts but this model, or any model, cannot process. Expects `null` fields to be gone. */
export function checkChatRequest(request: ChatRequest, model: Model, size: InputSize): void {
  checkContradictions(request);
  checkCapabilities(request, model);
  if (findContents(request) === null) checkMessages(request, model);
  checkLengths(request, model, size);
}

const chatFieldNames = Object.keys(chatFields);

function refuse(code: ErrorCode, param: string, message: string): never {
  throw new AppError(code, message, { param });
}

/**
 * Rejects unknown fields and values nested too deep. Fields outside OpenAI's API pass if a route of the model names
 * them. Also returns whether the request contains `null` to drop and fields of other vendors. `fieldNames` are those of the caller's API.
 */
export function checkChatFields(
  request: ChatRequest,
  model: Model,
  fieldNames: readonly string[] = chatFieldNames,
): { hasNulls: boolean; hasVendorFields: boolean } {
  if (model.type !== "chat") {
    throw new AppError("unsupported_capability", `${model.id} is not a chat model. Its type is ${model.type}.`, {
      param: "model",
    });
  }
  let hasVendorFields = false;
  for (const field in request) {
    if (Object.hasOwn(chatFields, field)) continue;
    // Other APIs have no schema for them.
    if (Object.hasOwn(vendorFields, field) && fieldNames === chatFieldNames) {
      hasVendorFields = true;
      continue;
    }
    if (model.routes.some(({ passthrough = [] }) => passthrough.includes(field))) continue;
    refuse("unknown_parameter", field, describeUnknownField(field, fieldNames));
  }
  const shape = new JsonShape(fieldsThatMayBeNull);
  for (const field in request) {
    if (isUnread(request, field)) continue;
    shape.names += 1;
    if (request[field] === null) shape.hasNulls = true;
    shape.add(request[field], jsonDepthMax);
    if (shape.isTooDeep) {
      refuse("invalid_parameter", field, `\`${field}\` is nested more than ${jsonDepthMax} levels deep.`);
    }
  }
  confirmText(request, shape);
  return { hasNulls: shape.hasNulls, hasVendorFields };
}

function checkContradictions(request: ChatRequest): void {
  const hasTools = isGiven(request, "tools") || request.functions !== undefined;
  if (request.stream_options != null && request.stream !== true) {
    refuse("invalid_parameter", "stream_options", "`stream_options` requires `stream: true`.");
  }
  if (request.tool_choice !== undefined && request.tool_choice !== "none" && !hasTools) {
    refuse("invalid_parameter", "tool_choice", "`tool_choice` requires `tools`.");
  }
  if (request.parallel_tool_calls !== undefined && !hasTools) {
    refuse("invalid_parameter", "parallel_tool_calls", "`parallel_tool_calls` requires `tools`.");
  }
  if (request.function_call !== undefined && request.function_call !== "none" && request.functions === undefined) {
    refuse("invalid_parameter", "function_call", "`function_call` requires `functions`.");
  }
  if (request.top_logprobs != null && request.logprobs !== true) {
    refuse("invalid_parameter", "top_logprobs", "`top_logprobs` requires `logprobs: true`.");
  }
  const [old, current] = [request.max_tokens ?? null, request.max_completion_tokens ?? null];
  if (old !== null && current !== null && old !== current) {
    refuse("invalid_parameter", "max_tokens", "`max_tokens` and `max_completion_tokens` differ. Send one of them.");
  }
  if (isGiven(request, "tools") && request.functions !== undefined) {
    refuse("invalid_parameter", "functions", "Send `tools` or their older form `functions`, not both.");
  }
  checkToolNames(request);
}

/** Tool names must be unique, and a tool choice must name one of them. */
function checkToolNames(request: ChatRequest): void {
  const { functions, tool_choice: choice, function_call: call } = request;
  if (!isGiven(request, "tools") && functions === undefined && choice === undefined && call === undefined) return;
  // Names are unique, so a name determines the type.
  const types = listToolTypes(request);
  for (const [index, { name }] of ((functions ?? []) as { name: string }[]).entries()) {
    if (types.has(name)) refuseTwin(`functions[${index}].name`, name);
    types.set(name, "function");
  }
  for (const { place, type, name } of listChosen(request)) {
    if (types.get(name) === type) continue;
    refuse("invalid_parameter", place, `There is no tool named ${name}.`);
  }
}

function listToolTypes(request: ChatRequest): Map<string, string> {
  const contents = findContents(request);
  // Nothing but a tool choice can name a tool: there are no functions beside tools.
  const isChosen = typeof request.tool_choice === "object" && contents?.tools !== 0;
  if (contents !== null) return new Map(isChosen ? contents.readToolTypes() : []);
  const types = new Map<string, string>();
  for (const [index, tool] of (request.tools ?? []).entries()) {
    const { type } = tool;
    const name = nameTool(tool);
    if (types.has(name)) refuseTwin(`tools[${index}].${type}.name`, name);
    types.set(name, type);
  }
  return types;
}

function refuseTwin(param: string, name: string): never {
  refuse("invalid_parameter", param, `Two tools have the name ${name}.`);
}

type NamedTool = { place: string; type: string; name: string };

function listChosen({ tool_choice: choice, function_call: legacy }: ChatRequest): NamedTool[] {
  const chosen: NamedTool[] = [];
  if (typeof legacy === "object" && legacy !== null && "name" in legacy) {
    chosen.push({ place: "function_call.name", type: "function", name: String(legacy.name) });
  }
  if (typeof choice !== "object") return chosen;
  if (choice.type === "allowed_tools") {
    for (const [index, tool] of choice.allowed_tools.tools.entries()) {
      const type = String(tool.type);
      const { name } = (tool[type] ?? {}) as { name?: unknown };
      chosen.push({ place: `tool_choice.allowed_tools.tools[${index}]`, type, name: String(name) });
    }
    return chosen;
  }
  const name = choice.type === "function" ? choice.function.name : choice.custom.name;
  return [...chosen, { place: `tool_choice.${choice.type}.name`, type: choice.type, name }];
}

const extraFields = ["audio", "modalities", "prediction", "service_tier", "store", "web_search_options"] as const;

function checkCapabilities(request: ChatRequest, model: Model): void {
  if (request.stream === true) requireCapability(model, "streaming", "stream");
  if (isGiven(request, "tools")) requireCapability(model, "tools", "tools");
  if (request.functions !== undefined) requireCapability(model, "tools", "functions");
  if (request.response_format?.type === "json_schema") requireCapability(model, "json_schema", "response_format");
  if ((request.reasoning_effort ?? "none") !== "none") requireCapability(model, "reasoning", "reasoning_effort");
  for (const field of extraFields) {
    const value = request[field];
    // `false` asks for the default, which every upstream accepts.
    if (value !== undefined && value !== false) requireExtra(model, field, field);
  }
}

function requireCapability(model: Model, capability: Capability, param: string): void {
  if (model.capabilities.includes(capability)) return;
  refuse("unsupported_capability", param, `${model.id} does not have the capability ${capability}.`);
}

function requireExtra(model: Model, extra: ExtraParameter, param: string): void {
  if (model.extra_parameters?.includes(extra) === true) return;
  refuse("unsupported_capability", param, `${model.id} does not take \`${param}\`.`);
}

function checkMessages({ messages }: ChatRequest, model: Model): void {
  // Counted by hand: there may be thousands of messages, and most need no check.
  let index = -1;
  for (const message of messages) {
    index += 1;
    if (message.role === "assistant") {
      checkAssistantMessage(message, index);
      if (message.prefix === true && index < messages.length - 1) {
        refuse("invalid_parameter", `messages[${index}].prefix`, "Only the last message can have `prefix: true`.");
      }
    }
    if (message.role !== "user" || typeof message.content === "string") continue;
    for (const [position, part] of message.content.entries()) {
      const place = `messages[${index}].content[${position}]`;
      if (part.type === "input_audio") requireExtra(model, "audio", place);
      if (part.type === "file") requireExtra(model, "files", place);
      if (part.type !== "image_url") continue;
      if (!model.capabilities.includes("vision")) {
        refuse("unsupported_capability", place, `${model.id} does not have the capability vision.`);
      }
      checkImage(part.image_url.url, `${place}.image_url.url`);
    }
  }
}

function checkAssistantMessage(message: ChatRequest["messages"][number] & { role: "assistant" }, index: number): void {
  const says = message.content != null || message.refusal != null || message.audio != null;
  const calls = message.tool_calls != null || ("function_call" in message && message.function_call !== null);
  if (!says && !calls) {
    const place = `messages[${index}]`;
    refuse("missing_parameter", `${place}.content`, `\`${place}\` needs \`content\` or \`tool_calls\`.`);
  }
}

function checkImage(url: string, param: string): void {
  if (url.startsWith("data:")) {
    // The pattern reads only the start of a long image: the upstream checks the rest.
    if (imagePattern.test(url.slice(0, 256)) || imagePattern.test(url)) return;
    refuse("invalid_url", param, "Write an inline image as `data:image/png;base64,…` (or jpeg, webp, gif).");
  }
  const problem = explainRawImage(url) ?? checkPublicUrl(url, { allowsPrivate: false });
  if (problem !== null) refuse("invalid_url", param, problem);
}

function checkLengths(request: ChatRequest, { limits }: Model, size: InputSize): void {
  const asked = request.max_completion_tokens ?? request.max_tokens ?? null;
  const field = request.max_completion_tokens != null ? "max_completion_tokens" : "max_tokens";
  if (limits.max_output_tokens !== undefined && asked !== null && asked > limits.max_output_tokens) {
    refuse("invalid_parameter", field, `\`${field}\` is at most ${limits.max_output_tokens} for this model.`);
  }
  if (limits.max_prompt_length !== undefined && size.characters > limits.max_prompt_length) {
    const { characters } = size;
    refuse(
      "context_length_exceeded",
      "messages",
      `This model's maximum context length is ${limits.max_prompt_length} characters, but your texts have ${characters}. Shorten them.`,
    );
  }
  if (limits.context_window !== undefined && size.characters > limits.context_window * charactersPerTokenMax) {
    refuse(
      "context_length_exceeded",
      "messages",
      `This model's maximum context length is ${limits.context_window} tokens, and the input is longer. Shorten it.`,
    );
  }
}
