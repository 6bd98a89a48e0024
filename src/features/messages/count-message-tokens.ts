import { countTokens } from "../../lib/token-meter.ts";
import type { ChatMessage, ChatRequest, ChatTool, ChatUserPart } from "../../providers/chat-request.ts";
import { type Fields, isObject } from "./message-error.ts";
import { readMessageRequest } from "./read-message-request.ts";

/**
 * Tokens that Anthropic adds around a request. Its page on tool use documents the numbers for tools and forced tools;
 * the others are derived from the examples on its token counting page.
 */
const tokensAround = { request: 2, message: 3, tools: 346, forcedTools: 313, thinking: 34 };

/** Pixels per image token. Anthropic downsizes larger images first. */
const pixelsPerToken = 750;
const imageTokensMax = 1_600;
/** Documents are mostly markup. */
const fileCharactersPerToken = 16;

/** Counts as the upstream will if it can, else estimates the tokens of a request without a tokenizer. */
export function countMessageTokens(
  body: Fields,
  countInput: (request: ChatRequest) => number | null = () => null,
): number {
  const { request } = readMessageRequest({ ...body, max_tokens: 1 }, null);
  const counted = countInput(request);
  if (counted !== null) return counted;
  let tokens = tokensAround.request;
  for (const message of request.messages) tokens += countMessage(message);
  if (request.tools !== undefined) {
    const isForced = request.tool_choice === "required" || typeof request.tool_choice === "object";
    tokens += isForced ? tokensAround.forcedTools : tokensAround.tools;
    for (const tool of request.tools) tokens += countTool(tool);
  }
  if (request.response_format?.type === "json_schema") {
    tokens += countTokens(JSON.stringify(request.response_format.json_schema.schema));
  }
  const isThinking = isObject(body.thinking) && body.thinking.type !== "disabled";
  return isThinking ? tokens + tokensAround.thinking : tokens;
}

function countMessage(message: ChatMessage): number {
  // The system prompt is included in the request's overhead, and reasoning of earlier turns is not read again.
  let tokens = message.role === "system" ? 0 : tokensAround.message;
  const { content } = message;
  if (typeof content === "string") tokens += countTokens(content);
  else for (const part of content ?? []) tokens += part.type === "refusal" ? 0 : countPart(part);
  if (message.role !== "assistant") return tokens;
  for (const call of message.tool_calls ?? []) {
    if (call.type === "function") tokens += countTokens(call.function.name + call.function.arguments);
  }
  return tokens;
}

function countPart(part: ChatUserPart): number {
  switch (part.type) {
    case "text":
      return countTokens(part.text);
    case "image_url":
      return countImage(part.image_url.url);
    case "file":
      return Math.ceil((part.file.file_data?.length ?? 0) / fileCharactersPerToken);
    case "input_audio":
      return 0;
  }
}

function countTool(tool: ChatTool): number {
  if (tool.type !== "function") return 0;
  const { name, description, parameters } = tool.function;
  return countTokens(JSON.stringify({ name, description, input_schema: parameters }));
}

const headCharacters = 64 * 1024;

function countImage(url: string): number {
  const base64 = url.startsWith("data:") ? url.slice(url.indexOf(",") + 1, headCharacters) : "";
  const pixels = readPixels(Buffer.from(base64, "base64"));
  return pixels === null ? imageTokensMax : Math.min(Math.ceil(pixels / pixelsPerToken), imageTokensMax);
}

/** Width times height from an image's header; `null` if it has none. */
function readPixels(bytes: Buffer): number | null {
  if (bytes.length >= 24 && bytes.toString("latin1", 12, 16) === "IHDR") {
    return bytes.readUInt32BE(16) * bytes.readUInt32BE(20);
  }
  if (bytes.length >= 10 && bytes.toString("latin1", 0, 3) === "GIF") {
    return bytes.readUInt16LE(6) * bytes.readUInt16LE(8);
  }
  return bytes.length >= 4 && bytes.readUInt16BE(0) === 0xffd8 ? readJpegPixels(bytes) : null;
}

/** A JPEG is a sequence of segments. Those of type C0 to CF, except three, contain the size. */
function readJpegPixels(bytes: Buffer): number | null {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const kind = bytes[at + 1] ?? 0;
    const isFrame = kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc;
    if (isFrame) return bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7);
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
