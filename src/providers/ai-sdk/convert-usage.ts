import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { type ChatUsage, uncountableUsage } from "../contract.ts";
import { isPlainObject, readCount, readField, readList, readText, toCount } from "./read-json.ts";

/**
 * The usage that an AI SDK package reports; `null` if none, `uncountableUsage` if it is not a count. `raw` is the
 * package's excerpt of the vendor's usage, `vendorUsage` the whole.
 */
export function convertUsage(
  { inputTokens, outputTokens, raw }: LanguageModelV4Usage,
  vendorUsage: unknown,
): ChatUsage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  if (!isCredible(inputTokens.total, outputTokens.total)) return uncountableUsage;
  return limitShares({
    inputTokens: toCount(inputTokens.total),
    outputTokens: toCount(outputTokens.total),
    cachedInputTokens: toCount(inputTokens.cacheRead) || countCached(raw) || countCached(vendorUsage),
    cacheWriteTokens: toCount(inputTokens.cacheWrite),
    cacheWrite1hTokens: countHourWrites(raw),
    reasoningTokens: toCount(outputTokens.reasoning),
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  });
}

/** The usage in a vendor's response or event: at the top level, or in `delta` in Cohere's last event. */
export function findRawUsage(value: unknown): unknown {
  return readField(value, "usage") ?? readField(readField(value, "delta"), "usage");
}

/** Vendors' names for cached tokens that their packages do not know. */
function countCached(raw: unknown): number {
  return readCount(raw, "cached_tokens") || readCount(raw, "num_cached_tokens");
}

/**
 * Anthropic's format. `input_tokens` excludes cache reads and writes. If the vendor called a model several times,
 * `iterations` has each call, and the totals omit some of them (compaction). The totals of a fallback model's answer
 * are its own.
 */
export function convertAnthropicUsage(usage: unknown): ChatUsage | null {
  if (!isPlainObject(usage)) return null;
  const total = convertAnthropicCounts(usage);
  const iterations = readList(usage, "iterations");
  if (iterations.length === 0 || iterations.some(isFallback)) return total;
  const sum = iterations.map(convertAnthropicCounts).reduce(addUsage);
  const isLess = sum.inputTokens + sum.outputTokens < total.inputTokens + total.outputTokens;
  return isLess ? total : { ...sum, reasoningTokens: Math.max(sum.reasoningTokens, total.reasoningTokens) };
}

function isFallback(iteration: unknown): boolean {
  return readText(iteration, "type") === "fallback_message";
}

function convertAnthropicCounts(usage: unknown): ChatUsage {
  if (!isCredible(readField(usage, "input_tokens"), readField(usage, "output_tokens"))) return uncountableUsage;
  const cachedInputTokens = readCount(usage, "cache_read_input_tokens");
  const cacheWriteTokens = readCount(usage, "cache_creation_input_tokens");
  return limitShares({
    inputTokens: readCount(usage, "input_tokens") + cachedInputTokens + cacheWriteTokens,
    outputTokens: readCount(usage, "output_tokens"),
    cachedInputTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: countHourWrites(usage),
    reasoningTokens: readCount(readField(usage, "output_tokens_details"), "thinking_tokens"),
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  });
}

function addUsage(one: ChatUsage, other: ChatUsage): ChatUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    cacheWrite1hTokens: one.cacheWrite1hTokens + other.cacheWrite1hTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    inputAudioTokens: one.inputAudioTokens + other.inputAudioTokens,
    outputAudioTokens: one.outputAudioTokens + other.outputAudioTokens,
  };
}

/** Anthropic's cache writes with a lifetime of one hour; 0 if it does not break them down. */
function countHourWrites(usage: unknown): number {
  return readCount(readField(usage, "cache_creation"), "ephemeral_1h_input_tokens");
}

/** Gemini's format. Tool results count as input, and thoughts as output. */
export function convertGoogleUsage(usage: unknown): ChatUsage | null {
  if (!isPlainObject(usage)) return null;
  if (!isCredible(usage.promptTokenCount, usage.candidatesTokenCount)) return uncountableUsage;
  const reasoningTokens = readCount(usage, "thoughtsTokenCount");
  return limitShares({
    inputTokens: readCount(usage, "promptTokenCount") + readCount(usage, "toolUsePromptTokenCount"),
    outputTokens: readCount(usage, "candidatesTokenCount") + reasoningTokens,
    cachedInputTokens: readCount(usage, "cachedContentTokenCount"),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens,
    inputAudioTokens: countModality(usage, "promptTokensDetails", "AUDIO"),
    outputAudioTokens: countModality(usage, "candidatesTokensDetails", "AUDIO"),
  });
}

function countModality(usage: unknown, details: string, modality: string): number {
  return readList(usage, details)
    .filter((detail) => readText(detail, "modality") === modality)
    .reduce<number>((sum, detail) => sum + readCount(detail, "tokenCount"), 0);
}

/** Absent means zero; a present value must be a count. */
function isCredible(...totals: readonly unknown[]): boolean {
  return totals.every(
    (total) => total === undefined || total === null || (Number.isSafeInteger(total) && Number(total) >= 0),
  );
}

/** Shares never exceed the total: prices of shares are subtracted from it. */
function limitShares(usage: ChatUsage): ChatUsage {
  const cachedInputTokens = Math.min(usage.cachedInputTokens, usage.inputTokens);
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens, usage.inputTokens - cachedInputTokens);
  return {
    ...usage,
    ...{ cachedInputTokens, cacheWriteTokens },
    cacheWrite1hTokens: Math.min(usage.cacheWrite1hTokens, cacheWriteTokens),
    reasoningTokens: Math.min(usage.reasoningTokens, usage.outputTokens),
    inputAudioTokens: Math.min(usage.inputAudioTokens, usage.inputTokens),
    outputAudioTokens: Math.min(usage.outputAudioTokens, usage.outputTokens),
  };
}
