import { type Bill, listChargedItems } from "../../lib/bill.ts";

/** Summarizes a bill: `1,200 input tokens, 1 image`. */
export function describeItems(items: Bill["items"]): string {
  const parts = listChargedItems({ items })
    .filter(({ quantity }) => quantity > 0n)
    .map(describeItem);
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

const plainNames: Record<string, string> = {
  input_tokens: "input tokens",
  counted_input_tokens: "input tokens (counted)",
  cached_input_tokens: "cached input tokens",
  cache_write_5m_tokens: "cache write tokens (5 minutes)",
  cache_write_1h_tokens: "cache write tokens (1 hour)",
  audio_input_tokens: "audio input tokens",
  output_tokens: "output tokens",
  counted_output_tokens: "output tokens (counted)",
  reasoning_tokens: "reasoning tokens",
  audio_output_tokens: "audio output tokens",
};

function describeItem({ name, quantity }: Bill["items"][number]): string {
  const known = plainNames[name];
  if (known !== undefined) return count(quantity, known);
  // A drama's stage and unit, such as `video_seconds`.
  const [, stage, counted = name] = /^(.+)_([a-z]+)$/.exec(name) ?? [];
  const what = counted === "minimum" ? "minimum charge" : count(quantity, counted);
  return stage === undefined ? what : `${stage}: ${what}`;
}

function count(quantity: bigint, plural: string): string {
  const noun = quantity === 1n ? plural.replace(/s(?= \(|$)/, "") : plural;
  return `${quantity.toLocaleString("en-US")} ${noun}`;
}
