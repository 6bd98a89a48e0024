import type { NativeRequest } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import { pick, pickCounts } from "./native-events.ts";

/** Anthropic's stop reasons as chat finish reasons. */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  compaction: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

export function readFinishReason(stopReason: unknown): string {
  return finishReasons[readStopReason(stopReason) ?? "end_turn"] ?? "stop";
}

/** An unknown value may contain the vendor's name. */
function readStopReason(value: unknown): string | null {
  if (typeof value !== "string") return null;
  return Object.hasOwn(finishReasons, value) ? value : "end_turn";
}

/** The message without its content: only these fields reach a caller, with our id and model. */
export function cleanMessage(message: JsonRecord, { id, model }: NativeRequest["envelope"]): Record<string, unknown> {
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: Array.isArray(message.content) ? message.content.map(cleanBlock) : [],
    ...cleanStop(message),
    ...pick(message, ["container", "context_management"]),
  };
}

/** A block as clients accept it: AI SDK 5 and 6 reject `citations: null`. */
export function cleanBlock(block: unknown): unknown {
  if (asRecord(block)?.citations !== null) return block;
  const { citations: _, ...rest } = block as JsonRecord;
  return rest;
}

/** Why a message ended. The vendor's explanation of a refusal is dropped. */
export function cleanStop(source: JsonRecord): Record<string, unknown> {
  return {
    stop_reason: readStopReason(source.stop_reason),
    stop_sequence: typeof source.stop_sequence === "string" ? source.stop_sequence : null,
    ...(source.stop_details === undefined ? {} : { stop_details: cleanDetails(asRecord(source.stop_details)) }),
  };
}

function cleanDetails(details: JsonRecord | null): object | null {
  if (details?.type !== "refusal") return null;
  return { type: "refusal", category: readCategory(details.category), explanation: null };
}

function readCategory(value: unknown): string | null {
  return value === "cyber" || value === "bio" ? value : null;
}

const counts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
const cacheCounts = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];
const outputCounts = ["thinking_tokens"];
const serverToolCounts = ["web_search_requests", "web_fetch_requests"];

/** The vendor's usage in its own format: only the counts. */
export function cleanMessageUsage(usage: JsonRecord): Record<string, unknown> {
  return {
    ...pickCounts(usage, counts),
    ...pickRecord(usage, "cache_creation", cacheCounts),
    ...pickRecord(usage, "output_tokens_details", outputCounts),
    ...pickRecord(usage, "server_tool_use", serverToolCounts),
  };
}

function pickRecord(usage: JsonRecord, field: string, names: readonly string[]): Record<string, unknown> {
  const value = usage[field];
  return value === undefined ? {} : { [field]: pickCounts(asRecord(value), names) };
}

/** Blocks that count as content only if they have text. Blocks of any other type always do. */
const textBlocks: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking"]);

export function isBlockContent(block: JsonRecord | null): boolean {
  return typeof block?.type === "string" && !textBlocks.has(block.type);
}

/** Types with a summary that the model wrote. */
const summaryTypes: ReadonlySet<unknown> = new Set(["compaction", "compaction_delta"]);

/** The text that the model wrote in a block or delta. */
export function readWritten(block: JsonRecord | null): string {
  if (block === null) return "";
  const { text, thinking, name, partial_json: fragment, input } = block;
  const summary = summaryTypes.has(block.type) ? block.content : undefined;
  let written = "";
  for (const part of [text, thinking, name, fragment, summary]) if (typeof part === "string") written += part;
  const given = asRecord(input);
  return given === null || isEmpty(given) ? written : written + JSON.stringify(given);
}

function isEmpty(record: JsonRecord): boolean {
  for (const _ in record) return false;
  return true;
}
