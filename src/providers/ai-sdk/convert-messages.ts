import { createHash } from "node:crypto";
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
} from "@ai-sdk/provider";
import { invariant } from "../../lib/invariant.ts";
import { isHourMark } from "../cache-control.ts";
import type { CacheMark, ChatMessage, ChatUserPart } from "../chat-request.ts";
import { parseDataUrl } from "./data-url.ts";
import type { Dialect } from "./dialects.ts";
import { parseToolArguments } from "./find-obstacle.ts";
import { fingerprintThought, type Thought, type ThoughtSeal } from "./thought-seal.ts";

export type FetchedImage = { bytes: Uint8Array; mediaType: string };

type MessageContext = {
  dialect: Dialect;
  keepsInstructionsInPlace: boolean;
  seal: ThoughtSeal;
  /** Whether `cache_control` may ask for one hour. */
  allowsHour: boolean;
  /** The images of all URLs that are not data URLs. */
  images: ReadonlyMap<string, FetchedImage>;
  /** Replaces long base64 media by a stand-in (`splice-media.ts`). */
  hideMedia(base64: string): string;
};

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/** Converts the conversation for the SDK. `findObstacle` has rejected what cannot be converted. */
export function convertMessages(messages: readonly ChatMessage[], context: MessageContext): LanguageModelV4Prompt {
  const { keepsInstructionsInPlace } = context;
  const instructions: LanguageModelV4Prompt = [];
  const prompt: LanguageModelV4Prompt = [];
  const toolNames = new Map<string, string>();
  for (const message of messages) {
    switch (message.role) {
      case "system":
      case "developer": {
        const place = keepsInstructionsInPlace ? prompt : instructions;
        place.push(...convertInstructions(message, context));
        break;
      }
      case "user":
        prompt.push({
          role: "user",
          content: convertUserParts(message.content, context),
          ...forwardCacheControl(message, context),
        });
        break;
      case "assistant": {
        for (const call of message.tool_calls ?? [])
          if (call.type === "function") toolNames.set(call.id, call.function.name);
        const content = convertAssistant(message, context);
        if (content.length > 0) prompt.push({ role: "assistant", content, ...forwardCacheControl(message, context) });
        break;
      }
      case "tool":
        addToolResult(prompt, message, { ...context, toolNames });
        break;
      case "function":
        invariant(false, "findObstacle rejects messages with the role function");
    }
  }
  return [...instructions, ...prompt];
}

/** The place where `cache_control` is passed on to an AI SDK package, as its provider option. See `cache-control.ts`. */
export function forwardCacheControl(
  { cache_control: mark }: CacheMark,
  { dialect, allowsHour }: Pick<MessageContext, "dialect" | "allowsHour">,
) {
  if (!dialect.takesCacheControl || mark?.type !== "ephemeral") return {};
  const lifetime = allowsHour && isHourMark(mark) ? { ttl: "1h" } : {};
  return { providerOptions: { [dialect.optionsName]: { cacheControl: { type: "ephemeral", ...lifetime } } } };
}

/** One message, or one for each part if some have `cache_control`: the vendor caches the prompt up to there. */
function convertInstructions(
  message: Extract<ChatMessage, { role: "system" | "developer" }>,
  context: MessageContext,
): LanguageModelV4Prompt {
  const { content } = message;
  const isCut =
    context.dialect.takesCacheControl && typeof content !== "string" && content.some((part) => "cache_control" in part);
  if (!isCut) return [{ role: "system", content: joinText(content), ...forwardCacheControl(message, context) }];
  return content.map((part, index) => {
    const mark = index === content.length - 1 ? { ...message, ...part } : part;
    return { role: "system", content: part.text, ...forwardCacheControl(mark, context) };
  });
}

function joinText(content: string | readonly { text: string }[]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

function convertUserParts(content: string | readonly ChatUserPart[], context: MessageContext): UserPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => ({ ...convertUserPart(part, context), ...forwardCacheControl(part, context) }));
}

function convertUserPart(part: ChatUserPart, context: MessageContext): UserPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image_url":
      return convertImage(part.image_url.url, context);
    case "input_audio": {
      const { data, format } = part.input_audio;
      return { type: "file", mediaType: format === "wav" ? "audio/wav" : "audio/mpeg", data: hideData(data, context) };
    }
    case "file": {
      const file = parseDataUrl(part.file.file_data ?? "");
      invariant(file !== null, "findObstacle rejects files without readable data");
      const filename = part.file.filename === undefined ? {} : { filename: part.file.filename };
      // A package may read the text of a file, but only passes binary formats on.
      const isText = file.mediaType.startsWith("text/");
      const data = isText ? ({ type: "data", data: file.base64 } as const) : hideData(file.base64, context);
      return { type: "file", mediaType: file.mediaType, data, ...filename };
    }
  }
}

function convertImage(url: string, context: MessageContext): LanguageModelV4FilePart {
  const inline = parseDataUrl(url);
  if (inline !== null) {
    return { type: "file", mediaType: inline.mediaType, data: hideData(inline.base64, context) };
  }
  const image = context.images.get(url);
  // A URL must never reach the package: it would pass it to the vendor, or fetch it without our SSRF protection.
  invariant(image !== undefined, "images are fetched before the request is converted");
  return { type: "file", mediaType: image.mediaType, data: { type: "data", data: image.bytes } };
}

function hideData(base64: string, { hideMedia }: MessageContext): { type: "data"; data: string } {
  return { type: "data", data: hideMedia(base64) };
}

type AssistantParts = (LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart)[];

function convertAssistant(message: AssistantMessage, context: MessageContext): AssistantParts {
  const { dialect, seal } = context;
  const calls: AssistantParts = [];
  const opening: AssistantParts = [];
  let reasoningLeft = message.reasoning_content ?? message.reasoning ?? "";
  for (const call of message.tool_calls ?? []) {
    invariant(call.type === "function", "findObstacle rejects custom tools");
    const { callId, thoughts } = seal.openCallId(call.id);
    const input = parseToolArguments(call.function.arguments);
    invariant(input !== null, "findObstacle rejects arguments that are not JSON");
    const part: LanguageModelV4ToolCallPart = {
      type: "tool-call",
      toolCallId: presentCallId(callId),
      toolName: call.function.name,
      input,
    };
    if (dialect.thoughts === "before-call") {
      const recalled = recallThoughts(thoughts, reasoningLeft, dialect);
      reasoningLeft = recalled.textLeft;
      (calls.length === 0 ? opening : calls).push(...recalled.parts);
    }
    const [thought] = dialect.thoughts === "on-call" ? thoughts : [];
    calls.push(thought === undefined ? part : { ...part, providerOptions: { [dialect.optionsName]: thought.marks } });
  }
  if (dialect.thoughts === "before-call" && opening.length === 0) opening.push(...readSignedThoughts(message, dialect));
  if (dialect.thoughts === "as-text" && reasoningLeft !== "") opening.push({ type: "reasoning", text: reasoningLeft });
  return [...opening, ...convertAssistantText(message, context), ...calls];
}

/** Reasoning whose text came back unchanged. A vendor rejects reasoning that does not match its signature. */
function recallThoughts(
  thoughts: readonly Thought[],
  text: string,
  dialect: Dialect,
): { parts: LanguageModelV4ReasoningPart[]; textLeft: string } {
  let textLeft = text;
  const parts = thoughts.map(({ marks, textLength, textFingerprint }): LanguageModelV4ReasoningPart | null => {
    const own = textLeft.slice(0, textLength);
    textLeft = textLeft.slice(textLength);
    if (fingerprintThought(own) !== textFingerprint) return null;
    return { type: "reasoning", text: own, providerOptions: { [dialect.optionsName]: marks } };
  });
  // If one is missing, none is sent: the vendor wants all or none.
  return { parts: parts.every((part) => part !== null) ? parts : [], textLeft };
}

/**
 * Signed reasoning from another gateway, for a conversation that began there. None if a piece lacks this vendor's
 * signature.
 */
function readSignedThoughts(
  { reasoning_details: details = [] }: AssistantMessage,
  { optionsName }: Dialect,
): LanguageModelV4ReasoningPart[] {
  const parts = details.map((detail): LanguageModelV4ReasoningPart | null => {
    const { type, text, signature, data, format = optionsName } = detail;
    if (typeof format !== "string" || !format.startsWith(optionsName)) return null;
    if (type === "reasoning.text" && typeof text === "string" && typeof signature === "string") {
      return { type: "reasoning", text, providerOptions: { [optionsName]: { signature } } };
    }
    if (type !== "reasoning.encrypted" || typeof data !== "string") return null;
    return { type: "reasoning", text: "", providerOptions: { [optionsName]: { redactedData: data } } };
  });
  return parts.every((part) => part !== null) ? parts : [];
}

function convertAssistantText(
  { content, refusal }: AssistantMessage,
  context: MessageContext,
): LanguageModelV4TextPart[] {
  const written = typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []);
  return [...written, { type: "refusal" as const, refusal: refusal ?? "" }]
    .map((part): LanguageModelV4TextPart => {
      const text = part.type === "text" ? part.text : part.refusal;
      return { type: "text", text, ...forwardCacheControl(part, context) };
    })
    .filter(({ text }) => text !== ""); // Vendors reject empty texts, and callers send them beside tool calls.
}

/** Results of parallel calls go in one message: vendors require it. */
function addToolResult(
  prompt: LanguageModelV4Prompt,
  message: Extract<ChatMessage, { role: "tool" }>,
  { toolNames, ...context }: MessageContext & { toolNames: ReadonlyMap<string, string> },
): void {
  const toolName = toolNames.get(message.tool_call_id);
  invariant(toolName !== undefined, "findObstacle rejects results of unknown calls");
  const result = {
    type: "tool-result" as const,
    toolCallId: presentCallId(context.seal.openCallId(message.tool_call_id).callId),
    toolName,
    output: { type: "text" as const, value: joinText(message.content) },
    ...forwardCacheControl(findMark(message), context),
  };
  const last: LanguageModelV4Message | undefined = prompt.at(-1);
  if (last?.role === "tool") last.content.push(result);
  else prompt.push({ role: "tool", content: [result] });
}

/** A result is one block for the vendor, so `cache_control` on a part applies to all of it. */
function findMark(message: Extract<ChatMessage, { role: "tool" }>): CacheMark {
  const marked =
    typeof message.content === "string" ? undefined : message.content.find((part) => "cache_control" in part);
  return marked ?? message;
}

/** A conversation may have tool call ids from any upstream; some vendors accept only letters and digits. */
function presentCallId(callId: string): string {
  return /^[\w-]{1,64}$/.test(callId)
    ? callId
    : `call_${createHash("sha256").update(callId).digest("hex").slice(0, 24)}`;
}
