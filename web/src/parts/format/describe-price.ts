import { formatMoney } from "./format-money.ts";
import { nameCapability } from "./model-labels.ts";

type PriceEntry = {
  unit: string;
  price?: string | undefined;
  input_price?: string | undefined;
  output_price?: string | undefined;
  cached_input_price?: string | undefined;
  cache_write_5m_price?: string | undefined;
  cache_write_1h_price?: string | undefined;
  audio_input_price?: string | undefined;
  reasoning_price?: string | undefined;
  audio_output_price?: string | undefined;
  minimum_charge?: string | undefined;
  capability?: string | undefined;
};

/** `name` is what the price is for, if a model has several prices. */
export type PriceLine = { name: string | null; text: string };

/** One entry of the price list with every digit. Tokens are priced per million everywhere. */
export function describePrice(entry: PriceEntry, currency: string): PriceLine[] {
  const isByMillion = entry.unit === "1K tokens";
  const write = (amount: string): string =>
    isByMillion
      ? `${formatMoney(multiplyByThousand(amount), currency)} / 1M tokens`
      : `${formatMoney(amount, currency)} / ${entry.unit}`;
  const line = (name: string | null, amount: string | undefined): PriceLine[] =>
    amount === undefined ? [] : [{ name, text: write(amount) }];
  const stage = entry.capability === undefined ? null : nameCapability(entry.capability);
  return [
    ...line(stage, entry.price),
    ...line("Input", entry.input_price),
    ...line("Cached input", entry.cached_input_price),
    ...line("Cache write, 5 minutes", entry.cache_write_5m_price),
    ...line("Cache write, 1 hour", entry.cache_write_1h_price),
    ...line("Audio input", entry.audio_input_price),
    ...line("Output", entry.output_price),
    ...line("Reasoning", entry.reasoning_price),
    ...line("Audio output", entry.audio_output_price),
  ];
}

/** From a price per 1,000 to one per million. On the text: a number could lose digits. */
export function multiplyByThousand(amount: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  const digits = fraction.padEnd(3, "0");
  return `${whole}${digits.slice(0, 3)}.${digits.slice(3)}`;
}

export function describeMinimum({ minimum_charge: amount }: PriceEntry, currency: string): string | null {
  return amount === undefined ? null : `at least ${formatMoney(amount, currency)}`;
}
