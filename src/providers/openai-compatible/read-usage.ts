import type { ChatUsage } from "../contract.ts";
import { asRecord } from "./json-value.ts";

const tokensMax = 1_000_000_000;

/** Usage as upstreams report it, or `null` where that cannot be true. What is impossible in the details is cut off. */
export function readUsage(value: unknown): ChatUsage | null {
  const usage = asRecord(value);
  if (usage === null) return null;
  const inputTokens = readTokens(usage.prompt_tokens);
  const written = readTokens(usage.completion_tokens);
  if (inputTokens === null || written === null) return null;
  const inputDetails = asRecord(usage.prompt_tokens_details);
  const outputDetails = asRecord(usage.completion_tokens_details);
  const reasoning = readTokens(outputDetails?.reasoning_tokens) ?? 0;
  // Some vendors count reasoning beside the output; their total tells.
  const isBeside = reasoning > 0 && usage.total_tokens === inputTokens + written + reasoning;
  const outputTokens = isBeside ? written + reasoning : written;
  const cached =
    readTokens(inputDetails?.cached_tokens) ??
    readTokens(usage.prompt_cache_hit_tokens) ??
    readTokens(usage.cached_tokens) ??
    0;
  const cachedInputTokens = Math.min(cached, inputTokens);
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens,
    cacheWriteTokens: Math.min(readTokens(inputDetails?.cache_write_tokens) ?? 0, inputTokens - cachedInputTokens),
    // None of them tells how long it keeps what it writes.
    cacheWrite1hTokens: 0,
    reasoningTokens: Math.min(reasoning, outputTokens),
    inputAudioTokens: Math.min(readTokens(inputDetails?.audio_tokens) ?? 0, inputTokens),
    outputAudioTokens: Math.min(readTokens(outputDetails?.audio_tokens) ?? 0, outputTokens),
  };
}

function readTokens(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokensMax ? value : null;
}
