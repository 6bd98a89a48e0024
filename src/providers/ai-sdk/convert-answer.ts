import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { ChatAnswer, ChatPiece, ChatUsage } from "../contract.ts";
import { findRawUsage } from "./convert-usage.ts";
import type { Dialect } from "./dialects.ts";
import { isPlainObject } from "./read-json.ts";
import { fingerprintThought, type Thought, type ThoughtSeal } from "./thought-seal.ts";

export type AnswerOptions = {
  dialect: Dialect;
  seal: ThoughtSeal;
  /** Creates our own id for a tool call: the vendor's could reveal the vendor. */
  createCallId(): string;
};

type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Converts the parts of a stream to pieces, in order. */
export type AnswerStream = {
  convertPart(part: LanguageModelV4StreamPart): ChatPiece[];
  /** Whether a finish reason has arrived. Usage, if any, is known then. */
  readonly isFinished: boolean;
  readonly usage: ChatUsage | null;
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one answer in the making; its functions share what has come.
export function createAnswerStream(options: AnswerOptions): AnswerStream {
  const { dialect } = options;
  const thoughts = createThoughtCollector(dialect);
  const calls = new Map<string, { index: number; hasArguments: boolean }>();
  let earlyUsage: ChatUsage | null = null;
  let usage: ChatUsage | null = null;
  let rawUsage: unknown = null;
  let hasBegun = false;
  let isFinished = false;
  let imageCount = 0;

  function write(delta: Record<string, unknown>, text: string, finishReason: FinishReason | null = null): ChatPiece[] {
    const pieces = hasBegun ? [] : [createPiece({ role: "assistant", content: "" }, "", null)];
    hasBegun = true;
    pieces.push(createPiece(delta, text, finishReason));
    const [first] = pieces;
    if (earlyUsage !== null && first !== undefined) first.usage = earlyUsage;
    earlyUsage = null;
    return pieces;
  }

  function beginCall(id: string, name: string, metadata: SharedV4ProviderMetadata | undefined): ChatPiece[] {
    const index = calls.size;
    calls.set(id, { index, hasArguments: false });
    const callId = options.seal.sealCallId(options.createCallId(), thoughts.take(metadata));
    return write({ tool_calls: [{ index, id: callId, type: "function", function: { name, arguments: "" } }] }, name);
  }

  function addArguments(id: string, text: string): ChatPiece[] {
    const call = calls.get(id);
    if (call === undefined || text === "") return [];
    call.hasArguments = true;
    return write({ tool_calls: [{ index: call.index, function: { arguments: text } }] }, text);
  }

  function finish(reason: LanguageModelV4FinishReason, metadata: SharedV4ProviderMetadata | undefined): ChatPiece[] {
    // Some packages invent a finish part when a stream breaks off. A real one has the vendor's own reason.
    if (isFinished || (reason.raw === undefined && reason.unified === "other")) return [];
    isFinished = true;
    const pieces = write({}, "", convertFinishReason(reason, { dialect, hasCalls: calls.size > 0 }));
    Object.assign(pieces.at(-1) ?? {}, readStopSequence(metadata, dialect));
    return pieces;
  }

  function convertPart(part: LanguageModelV4StreamPart): ChatPiece[] {
    earlyUsage = dialect.readEarlyUsage(part) ?? earlyUsage;
    switch (part.type) {
      case "text-delta":
        return part.delta === "" ? [] : write({ content: part.delta }, part.delta);
      case "reasoning-start":
      case "reasoning-end":
        thoughts.add("", part);
        return [];
      case "reasoning-delta":
        thoughts.add(part.delta, part);
        return part.delta === "" ? [] : write({ reasoning_content: part.delta }, part.delta);
      case "tool-input-start":
        return part.providerExecuted ? [] : beginCall(part.id, part.toolName, part.providerMetadata);
      case "tool-input-delta":
        return addArguments(part.id, part.delta);
      case "tool-call": {
        if (part.providerExecuted) return [];
        const pieces = calls.has(part.toolCallId)
          ? []
          : beginCall(part.toolCallId, part.toolName, part.providerMetadata);
        // Some packages send arguments in deltas, some only here, as does any package for a call without arguments.
        return calls.get(part.toolCallId)?.hasArguments
          ? pieces
          : [...pieces, ...addArguments(part.toolCallId, part.input)];
      }
      case "file": {
        const image = presentImage(part);
        return image === null ? [] : markContent(write({ images: [{ index: imageCount++, ...image }] }, ""));
      }
      case "raw":
        rawUsage = findRawUsage(part.rawValue) ?? rawUsage;
        return [];
      case "finish":
        usage = dialect.readUsage(part.usage, rawUsage) ?? usage;
        return finish(part.finishReason, part.providerMetadata);
      default:
        // Sources and the vendor's own tool calls have no place in a chat answer.
        return [];
    }
  }

  return {
    convertPart,
    get isFinished() {
      return isFinished;
    },
    get usage() {
      return usage;
    },
  };
}

function createPiece(delta: Record<string, unknown>, text: string, finishReason: FinishReason | null): ChatPiece {
  return { choices: JSON.stringify([{ index: 0, delta, finish_reason: finishReason, logprobs: null }]), text };
}

function markContent(pieces: ChatPiece[]): ChatPiece[] {
  return pieces.map((piece) => ({ ...piece, isContent: true }));
}

type ImagePart = { type: "image_url"; image_url: { url: string } };

/** Images in the format that most gateways use in chat. One behind a URL is dropped: the URL would reveal the vendor. */
function presentImage({ mediaType, data: file }: LanguageModelV4File): ImagePart | null {
  if (file.type !== "data" || !imageTypePattern.test(mediaType)) return null;
  const base64 = typeof file.data === "string" ? file.data : Buffer.from(file.data).toString("base64");
  return { type: "image_url", image_url: { url: `data:${mediaType};base64,${base64}` } };
}

const imageTypePattern = /^image\/[a-z0-9.+-]+$/;

/** `null` if the vendor returned neither content nor a finish reason. */
export function convertAnswer(result: LanguageModelV4GenerateResult, options: AnswerOptions): ChatAnswer | null {
  const { dialect, seal } = options;
  const { finishReason } = result;
  if (finishReason.raw === undefined && finishReason.unified === "other") return null;
  const thoughts = createThoughtCollector(dialect);
  const toolCalls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  const images: ImagePart[] = [];
  let content = "";
  let reasoning = "";
  for (const [index, part] of result.content.entries()) {
    if (part.type === "text") content += part.text;
    if (part.type === "reasoning") {
      reasoning += part.text;
      thoughts.add(part.text, { id: String(index), providerMetadata: part.providerMetadata });
    }
    if (part.type === "file") {
      const image = presentImage(part);
      if (image !== null) images.push(image);
    }
    if (part.type !== "tool-call" || part.providerExecuted) continue;
    const id = seal.sealCallId(options.createCallId(), thoughts.take(part.providerMetadata));
    const call = { name: part.toolName, arguments: part.input === "" ? "{}" : part.input };
    toolCalls.push({ id, type: "function", function: call });
  }
  const message = {
    role: "assistant",
    content: content === "" && toolCalls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    ...(images.length === 0 ? {} : { images }),
  };
  const reason = convertFinishReason(finishReason, { dialect, hasCalls: toolCalls.length > 0 });
  const called = toolCalls.map(({ function: call }) => call.name + call.arguments);
  return {
    choices: JSON.stringify([{ index: 0, message, finish_reason: reason, logprobs: null }]),
    text: [reasoning, content, ...called].join(""),
    ...(images.length === 0 ? {} : { isContent: true }),
    ...readStopSequence(result.providerMetadata, dialect),
    usage: dialect.readUsage(result.usage, findRawUsage(result.response?.body)),
  };
}

/** Only Anthropic reports it. */
function readStopSequence(metadata: SharedV4ProviderMetadata | undefined, { optionsName }: Dialect) {
  const stopSequence = metadata?.[optionsName]?.stopSequence;
  return typeof stopSequence === "string" ? { stopSequence } : {};
}

function convertFinishReason(
  { unified, raw }: LanguageModelV4FinishReason,
  { dialect, hasCalls }: { dialect: Dialect; hasCalls: boolean },
): FinishReason {
  const known = raw !== undefined && Object.hasOwn(dialect.finishReasons, raw) ? dialect.finishReasons[raw] : undefined;
  if (known !== undefined) return known;
  switch (unified) {
    case "length":
      return "length";
    case "content-filter":
      return "content_filter";
    case "stop":
    case "tool-calls":
    case "error":
    case "other":
      return hasCalls ? "tool_calls" : "stop";
  }
}

/** Collects what must be sent back with a tool call: from the reasoning before it, or from the call itself. */
function createThoughtCollector(dialect: Dialect) {
  let thoughts: { id: string; text: string; marks: Record<string, string> }[] = [];

  function readMarks(metadata: SharedV4ProviderMetadata | undefined): Record<string, string> {
    const own = metadata?.[dialect.optionsName];
    if (!isPlainObject(own)) return {};
    const texts = Object.entries(own).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    return Object.fromEntries(texts.filter(([name]) => thoughtMarks.has(name)));
  }

  return {
    add(text: string, part: { id: string; providerMetadata?: SharedV4ProviderMetadata | undefined }): void {
      if (dialect.thoughts !== "before-call") return;
      const last = thoughts.at(-1);
      const thought = last?.id === part.id ? last : { id: part.id, text: "", marks: {} };
      if (thought !== last) thoughts.push(thought);
      thought.text += text;
      Object.assign(thought.marks, readMarks(part.providerMetadata));
    },
    take(metadata: SharedV4ProviderMetadata | undefined): Thought[] {
      const own = { id: "", text: "", marks: dialect.thoughts === "on-call" ? readMarks(metadata) : {} };
      const taken = [...thoughts, own].filter(({ marks }) => Object.keys(marks).length > 0);
      thoughts = [];
      return taken.map(({ text, marks }) => ({
        marks,
        textLength: text.length,
        textFingerprint: fingerprintThought(text),
      }));
    },
  };
}

/** Fields with signatures. No other metadata is sent back. */
const thoughtMarks: ReadonlySet<string> = new Set(["signature", "redactedData", "thoughtSignature"]);
