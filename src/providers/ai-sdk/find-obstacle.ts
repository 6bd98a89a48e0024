import { countInnerStructure, innerStructureMax } from "../../platform/http/json-scanner.ts";
import { type ChatMessage, type ChatRequest, type ChatUserPart, isNeutral } from "../chat-request.ts";
import type { ChatObstacle } from "../contract.ts";
import { parseDataUrl } from "./data-url.ts";
import type { Dialect } from "./dialects.ts";
import { isPlainObject, parseJson } from "./read-json.ts";

/** Fields that every vendor supports, and fields that do not affect the answer. */
const commonFields: ReadonlySet<string> = new Set([
  "max_completion_tokens",
  "max_tokens",
  "messages",
  "metadata",
  "model",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning_effort",
  "response_format",
  "safety_identifier",
  "stop",
  "stream",
  "stream_options",
  "temperature",
  "tool_choice",
  "tools",
  "top_p",
  "user",
]);

const imagesMax = 64;

/** What a vendor does not support in a request. Without a model name, only what none of its models supports. */
export function findObstacle(
  request: ChatRequest,
  dialect: Dialect,
  upstreamModel: string | null = null,
): ChatObstacle | null {
  return (
    findFieldObstacle(request, dialect) ??
    findToolObstacle(request) ??
    findFormatObstacle(request, dialect) ??
    findMessagesObstacle(request.messages, dialect) ??
    dialect.findModelObstacle(request, upstreamModel)
  );
}

function findFieldObstacle(request: ChatRequest, dialect: Dialect): ChatObstacle | null {
  for (const [field, value] of Object.entries(request)) {
    if (commonFields.has(field) || dialect.fields.has(field) || dialect.vendorFields.has(field)) continue;
    if (!isNeutral(field, value)) return refuse(field);
  }
  if ((request.temperature ?? 0) > dialect.temperatureMax) {
    return { param: "temperature", message: `This model takes a temperature of at most ${dialect.temperatureMax}.` };
  }
  return null;
}

function findToolObstacle({ tools = [], tool_choice }: ChatRequest): ChatObstacle | null {
  const custom = tools.findIndex(({ type }) => type === "custom");
  if (custom !== -1) return refuse(`tools[${custom}]`, "custom tools");
  if (typeof tool_choice !== "object") return null;
  if (tool_choice.type === "custom") return refuse("tool_choice", "custom tools");
  if (tool_choice.type !== "allowed_tools") return null;
  const isUnreadable = tool_choice.allowed_tools.tools.some((tool) => readToolName(tool) === null);
  return isUnreadable ? refuse("tool_choice", "these allowed tools") : null;
}

/** The name in `{"type":"function","function":{"name":"…"}}`. */
export function readToolName(tool: Record<string, unknown>): string | null {
  const named = tool.function;
  return isPlainObject(named) && typeof named.name === "string" ? named.name : null;
}

function findFormatObstacle({ response_format }: ChatRequest, dialect: Dialect): ChatObstacle | null {
  if (response_format?.type === "json_object" && !dialect.takesJsonObject) {
    return { param: "response_format", message: "This model supports JSON output only with a json_schema." };
  }
  if (response_format?.type === "json_schema" && response_format.json_schema.schema === undefined) {
    return { param: "response_format.json_schema.schema", message: "This model requires `json_schema.schema`." };
  }
  return null;
}

function findMessagesObstacle(messages: readonly ChatMessage[], dialect: Dialect): ChatObstacle | null {
  const callIds = new Set<string>();
  let imageCount = 0;
  let structureLeft = innerStructureMax;
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    structureLeft -= countArguments(message);
    if (structureLeft < 0) return { param: place, message: "The arguments of the tool calls are too large." };
    const obstacle = findMessageObstacle(message, place, { dialect, callIds });
    if (obstacle !== null) return obstacle;
    if (message.role === "assistant") for (const { id } of message.tool_calls ?? []) callIds.add(id);
    if (message.role !== "user" || typeof message.content === "string") continue;
    imageCount += message.content.filter(({ type }) => type === "image_url").length;
    if (imageCount > imagesMax) return { param: place, message: `This model takes at most ${imagesMax} images.` };
  }
  return null;
}

/** Arguments are JSON inside JSON: each is parsed on the event loop, and there may be many. */
function countArguments(message: ChatMessage): number {
  if (message.role !== "assistant") return 0;
  let structure = 0;
  for (const call of message.tool_calls ?? []) {
    if (call.type === "function" && structure <= innerStructureMax)
      structure += countInnerStructure(call.function.arguments);
  }
  return structure;
}

function findMessageObstacle(
  message: ChatMessage,
  place: string,
  { dialect, callIds }: { dialect: Dialect; callIds: ReadonlySet<string> },
): ChatObstacle | null {
  if (message.role === "function") return refuse(place, "function messages");
  // The name of a tool is known from the call that it answers.
  if (message.role !== "tool" && message.name !== undefined) return refuse(`${place}.name`, "names of participants");
  switch (message.role) {
    case "system":
    case "developer":
      return null;
    case "user":
      return typeof message.content === "string" ? null : findPartsObstacle(message.content, place, dialect);
    case "tool":
      return callIds.has(message.tool_call_id)
        ? null
        : { param: `${place}.tool_call_id`, message: "No earlier tool call has this id." };
    case "assistant":
      return findAssistantObstacle(message, place);
  }
}

function findAssistantObstacle(
  message: Extract<ChatMessage, { role: "assistant" }>,
  place: string,
): ChatObstacle | null {
  if (message.audio !== undefined && message.audio !== null)
    return refuse(`${place}.audio`, "audio of earlier answers");
  if ("function_call" in message && message.function_call !== null)
    return refuse(`${place}.function_call`, "function calls");
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    const callPlace = `${place}.tool_calls[${index}]`;
    if (call.type === "custom") return refuse(callPlace, "custom tools");
    if (parseToolArguments(call.function.arguments) === null) {
      return { param: `${callPlace}.function.arguments`, message: "The arguments are not a JSON object." };
    }
  }
  return null;
}

/** `null` if it is not a JSON object. An empty string counts as `{}`: callers send it for tools without arguments. */
export function parseToolArguments(text: string): Record<string, unknown> | null {
  const parsed = text.trim() === "" ? {} : parseJson(text);
  return isPlainObject(parsed) ? parsed : null;
}

function findPartsObstacle(parts: readonly ChatUserPart[], place: string, dialect: Dialect): ChatObstacle | null {
  for (const [index, part] of parts.entries()) {
    const obstacle = findPartObstacle(part, `${place}.content[${index}]`, dialect);
    if (obstacle !== null) return obstacle;
  }
  return null;
}

function findPartObstacle(part: ChatUserPart, place: string, dialect: Dialect): ChatObstacle | null {
  switch (part.type) {
    case "text":
      return null;
    case "image_url": {
      const { url, detail } = part.image_url;
      if (detail === "low") return refuse(`${place}.image_url.detail`, "images of low detail");
      if (!url.startsWith("data:")) return null;
      const isImage = parseDataUrl(url)?.mediaType.startsWith("image/") === true;
      return isImage
        ? null
        : { param: `${place}.image_url.url`, message: "This is not a base64 data URL of an image." };
    }
    case "input_audio":
      return dialect.takesAudio ? null : refuse(place, "audio");
    case "file": {
      if (part.file.file_data === undefined) return refuse(`${place}.file.file_id`, "uploaded files");
      const mediaType = parseDataUrl(part.file.file_data)?.mediaType;
      if (mediaType === undefined)
        return { param: `${place}.file.file_data`, message: "This is not a base64 data URL." };
      return dialect.fileTypes.test(mediaType) ? null : refuse(`${place}.file.file_data`, `files of type ${mediaType}`);
    }
  }
}

function refuse(param: string, what = param): ChatObstacle {
  return { param, message: `This model does not support ${what}.` };
}
