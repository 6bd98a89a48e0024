import { type ChatUsage, uncountableUsage } from "../contract.ts";
import { asRecord, type JsonRecord } from "./json-value.ts";

const tokensMax = 1_000_000_000;

/**
 * Parses reported usage; `null` if there is none, `uncountableUsage` if it cannot be true. Impossible details are
 * capped.
 */
export function readUsage(value: unknown): ChatUsage | null {
  const usage = asRecord(value);
  if (usage === null) return null;
  const { prompt_tokens: read, completion_tokens: produced } = usage;
  if (read === undefined || read === null || produced === undefined || produced === null) return null;
  const inputTokens = readTokens(read);
  const written = readTokens(produced);
  if (inputTokens === null || written === null) return uncountableUsage;
  const inputDetails = asRecord(usage.prompt_tokens_details);
  const outputDetails = asRecord(usage.completion_tokens_details);
  const reasoning = readTokens(outputDetails?.reasoning_tokens) ?? 0;
  // Some vendors count reasoning in addition to the output; their total reveals it.
  const isBeside = reasoning > 0 && usage.total_tokens === inputTokens + written + reasoning;
  const outputTokens = isBeside ? written + reasoning : written;
  const cached =
    readTokens(inputDetails?.cached_tokens) ??
    readTokens(usage.prompt_cache_hit_tokens) ??
    readTokens(usage.cached_tokens) ??
    readTokens(usage.num_cached_tokens) ??
    0;
  const cachedInputTokens = Math.min(cached, inputTokens);
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens,
    cacheWriteTokens: Math.min(readTokens(inputDetails?.cache_write_tokens) ?? 0, inputTokens - cachedInputTokens),
    // No OpenAI-compatible upstream reports the lifetime of cache writes.
    cacheWrite1hTokens: 0,
    reasoningTokens: Math.min(reasoning, outputTokens),
    inputAudioTokens: Math.min(readTokens(inputDetails?.audio_tokens) ?? 0, inputTokens),
    outputAudioTokens: Math.min(readTokens(outputDetails?.audio_tokens) ?? 0, outputTokens),
  };
}

/** Groq puts the usage of a stream in `x_groq`. */
export function readReportedUsage({ usage, x_groq: groq }: JsonRecord): ChatUsage | null {
  return readUsage(usage ?? asRecord(groq)?.usage);
}

function readTokens(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokensMax ? value : null;
}
