import { type QuotaKind, quotaKinds } from "../../lib/plan-terms.ts";

export type UsedUnits = {
  /** Includes cached input. */
  inputTokens: bigint;
  cachedInputTokens: bigint;
  outputTokens: bigint;
  images: bigint;
  seconds: bigint;
  characters: bigint;
};

export type UsageSums = UsedUnits & {
  calls: bigint;
  /** Billionths of the currency. */
  charge: bigint;
  /** Units that quotas paid. */
  quotas: Record<QuotaKind, bigint>;
};

type CountedItem = { name: string; quantity: bigint };

const inputItems: ReadonlySet<string> = new Set([
  "input_tokens",
  "counted_input_tokens",
  "cached_input_tokens",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
  "audio_input_tokens",
]);
const outputItems: ReadonlySet<string> = new Set([
  "output_tokens",
  "counted_output_tokens",
  "reasoning_tokens",
  "audio_output_tokens",
]);

/** A drama's items are prefixed with their stage, such as `video_seconds`. */
export function countItems(items: readonly CountedItem[]): UsedUnits {
  const units = { ...noUnits };
  for (const { name, quantity } of items) {
    if (name === "cached_input_tokens") units.cachedInputTokens += quantity;
    if (inputItems.has(name)) units.inputTokens += quantity;
    else if (outputItems.has(name)) units.outputTokens += quantity;
    else if (name === "images") units.images += quantity;
    else if (name === "characters") units.characters += quantity;
    else if (/(^|_)seconds$/.test(name)) units.seconds += quantity;
  }
  return units;
}

const noUnits: UsedUnits = {
  inputTokens: 0n,
  cachedInputTokens: 0n,
  outputTokens: 0n,
  images: 0n,
  seconds: 0n,
  characters: 0n,
};

export const noUsage: UsageSums = { ...noUnits, calls: 0n, charge: 0n, quotas: { text: 0n, image: 0n, video: 0n } };

export function addUsage(a: UsageSums, b: UsageSums): UsageSums {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    images: a.images + b.images,
    seconds: a.seconds + b.seconds,
    characters: a.characters + b.characters,
    calls: a.calls + b.calls,
    charge: a.charge + b.charge,
    quotas: Object.fromEntries(
      quotaKinds.map((kind) => [kind, a.quotas[kind] + b.quotas[kind]]),
    ) as UsageSums["quotas"],
  };
}
