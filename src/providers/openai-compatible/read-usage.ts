import { type ChatUsage, uncountableUsage } from "../contract.ts";
import { cachedTokensPlaces, usagePlaces } from "./dialects/answer-words.ts";
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
  const cachedInputTokens = Math.min(countCached(usage), inputTokens);
  // One literal: an object that starts with a spread is slow to make.
  const reported: ChatUsage = {
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
  const costNano = readCost(usage);
  if (costNano !== null) reported.costNano = costNano;
  return reported;
}

/** More than any call costs. */
const costNanoMax = 1e15;

/** OpenRouter reports dollars, and xAI ticks of which a dollar has 10^10. */
function readCost({ cost, cost_in_usd_ticks: ticks, ...usage }: JsonRecord): number | null {
  if (typeof ticks === "number") return boundCost(ticks / 10);
  if (typeof cost !== "number") return null;
  // With the operator's own key at the vendor, OpenRouter's cost is only its fee.
  const own = usage.is_byok === true ? asRecord(usage.cost_details)?.upstream_inference_cost : 0;
  return boundCost((cost + (typeof own === "number" ? own : 0)) * 1e9);
}

function boundCost(nanos: number): number | null {
  return nanos >= 0 && nanos <= costNanoMax ? Math.round(nanos) : null;
}

/** The usage of an answer or chunk, wherever its vendor puts it. */
export function readReportedUsage(answer: JsonRecord): ChatUsage | null {
  for (const place of usagePlaces) {
    const usage = readPlace(answer, place);
    if (usage !== undefined && usage !== null) return readUsage(usage);
  }
  return null;
}

function countCached(usage: JsonRecord): number {
  for (const place of cachedTokensPlaces) {
    const tokens = readTokens(readPlace(usage, place));
    if (tokens !== null) return tokens;
  }
  return 0;
}

function readPlace(record: JsonRecord, place: readonly string[]): unknown {
  let value: unknown = record;
  for (const name of place) value = asRecord(value)?.[name];
  return value;
}

function readTokens(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokensMax ? value : null;
}
