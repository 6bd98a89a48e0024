import { foreignReasons } from "./dialects/answer-words.ts";
import { asRecord, type JsonRecord } from "./json-value.ts";
import { sanitiseReasoningDetails } from "./reasoning-details.ts";
import { sanitiseAnnotations, sanitiseAudio, sanitiseImages, sanitiseLogprobs } from "./sanitise-extras.ts";
import { sanitiseFunctionCall, sanitiseToolCalls } from "./sanitise-tool-calls.ts";
import type { WrittenText } from "./written-text.ts";

/** The common fields of a message and a delta. Only these reach a caller. */
type CleanContent = {
  role?: "assistant";
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  reasoning_details?: readonly object[];
  tool_calls?: readonly object[];
  function_call?: object;
  audio?: object;
  annotations?: readonly object[];
  images?: readonly object[];
};

export type CleanChunkChoice = {
  index: number;
  delta: CleanContent;
  finish_reason: FinishReason | null;
  logprobs?: object;
};

export type CleanAnswerChoice = {
  index: number;
  message: CleanContent;
  finish_reason: FinishReason;
  logprobs: object | null;
};

type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

const finishReasons: ReadonlySet<unknown> = new Set<FinishReason>([
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "function_call",
]);
const choicesMax = 128;

/** A choice of a chunk; `null` if it is not one. */
export function sanitiseChunkChoice(value: unknown, written: WrittenText): CleanChunkChoice | null {
  const choice = asRecord(value);
  if (choice === null) return null;
  const clean: CleanChunkChoice = {
    index: readIndex(choice.index, 0),
    delta: sanitiseContent(asRecord(choice.delta) ?? {}, { written, isWhole: false }),
    finish_reason: readFinishReason(choice.finish_reason),
  };
  const logprobs = sanitiseLogprobs(choice.logprobs);
  if (logprobs !== null) clean.logprobs = logprobs;
  return clean;
}

/** A choice of a complete answer; `null` if it is not one. */
export function sanitiseAnswerChoice(value: unknown, position: number, written: WrittenText): CleanAnswerChoice | null {
  const choice = asRecord(value);
  const message = asRecord(choice?.message);
  if (choice === null || message === null) return null;
  const clean = sanitiseContent(message, { written, isWhole: true });
  clean.role = "assistant";
  clean.content ??= null;
  clean.refusal ??= null;
  return {
    index: readIndex(choice.index, position),
    message: clean,
    finish_reason: decideFinishReason(choice.finish_reason, clean),
    logprobs: sanitiseLogprobs(choice.logprobs),
  };
}

function readIndex(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < choicesMax ? value : otherwise;
}

function readFinishReason(value: unknown): FinishReason | null {
  // Some vendors send an empty string for "not yet".
  if (typeof value !== "string" || value === "") return null;
  return finishReasons.has(value) ? (value as FinishReason) : (foreignReasons.get(value) ?? "stop");
}

/** A complete answer needs a finish reason even if its vendor leaves it empty: with tool calls it is `tool_calls`. */
function decideFinishReason(value: unknown, { tool_calls: calls }: CleanContent): FinishReason {
  return readFinishReason(value) ?? (calls === undefined ? "stop" : "tool_calls");
}

function sanitiseContent(source: JsonRecord, part: { written: WrittenText; isWhole: boolean }): CleanContent {
  const { written } = part;
  const clean: CleanContent = {};
  if (source.role === "assistant") clean.role = "assistant";
  const { text, thinking } = readText(source.content);
  const reasoning = firstText(source.reasoning_content, source.reasoning, thinking);
  if (text !== undefined) clean.content = text;
  if (typeof source.refusal === "string" || source.refusal === null) clean.refusal = source.refusal;
  if (reasoning !== undefined) clean.reasoning_content = reasoning;
  if (Array.isArray(source.reasoning_details)) {
    const details = sanitiseReasoningDetails(source.reasoning_details);
    if (details.length > 0) clean.reasoning_details = details;
  }
  written.text += (reasoning ?? "") + (text ?? "") + (clean.refusal ?? "");
  if (Array.isArray(source.tool_calls)) {
    const calls = sanitiseToolCalls(source.tool_calls, part);
    if (calls.length > 0) clean.tool_calls = calls;
  }
  const functionCall = asRecord(source.function_call);
  if (functionCall !== null) clean.function_call = sanitiseFunctionCall(functionCall, written);
  const audio = asRecord(source.audio);
  if (audio !== null) clean.audio = sanitiseAudio(audio, written);
  if (Array.isArray(source.annotations)) {
    const annotations = sanitiseAnnotations(source.annotations);
    if (annotations.length > 0) clean.annotations = annotations;
  }
  if (Array.isArray(source.images)) {
    const images = sanitiseImages(source.images);
    if (images.length > 0) {
      clean.images = images;
      written.isContent = true;
    }
  }
  return clean;
}

type ReadText = { text: string | null | undefined; thinking?: string };

/** A text, or a list of parts in which some vendors separate reasoning. */
function readText(content: unknown): ReadText {
  if (typeof content === "string" || content === null) return { text: content };
  if (!Array.isArray(content)) return { text: undefined };
  let text: string | undefined;
  let thinking: string | undefined;
  for (const part of content.map(asRecord)) {
    if (part?.type === "text" && typeof part.text === "string") text = (text ?? "") + part.text;
    if (part?.type === "thinking") thinking = (thinking ?? "") + (readText(part.thinking).text ?? "");
  }
  return thinking === undefined ? { text } : { text, thinking };
}

/** A text wins over `null`, and `null` over `undefined`. */
function firstText(first: unknown, second: unknown, third: unknown): string | null | undefined {
  if (typeof first === "string") return first;
  if (typeof second === "string") return second;
  if (typeof third === "string") return third;
  return first === null || second === null || third === null ? null : undefined;
}
