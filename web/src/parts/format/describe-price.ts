import { formatMoney } from "./format-money.ts";
import { nameCapability } from "./model-labels.ts";

type PriceItem = {
  item: string;
  price: string;
  above_input_tokens?: number | undefined;
} & { readonly [option: string]: string | number | boolean | undefined };

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
  items?: readonly PriceItem[] | undefined;
  tier_scope?: "call" | "part" | undefined;
  service_tiers?: Readonly<Record<string, string>> | undefined;
  multiplier?: string | undefined;
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
  const { items = [], service_tiers: tiers = {}, multiplier } = entry;
  // Then the items have every rate of the unit.
  const hasChoice = items.some(({ item }) => unitsByItem[item] === entry.unit);
  return [
    ...(hasChoice ? [] : line(stage, entry.price)),
    ...line("Input", entry.input_price),
    ...line("Cached input", entry.cached_input_price),
    ...line("Cache write, 5 minutes", entry.cache_write_5m_price),
    ...line("Cache write, 1 hour", entry.cache_write_1h_price),
    ...line("Audio input", entry.audio_input_price),
    ...line("Output", entry.output_price),
    ...line("Reasoning", entry.reasoning_price),
    ...line("Audio output", entry.audio_output_price),
    ...items.map((item) => describeItem(item, { currency, isPart: entry.tier_scope === "part" })),
    ...Object.entries(tiers).map(([name, factor]) => ({ name: `Service tier ${name}`, text: `× ${factor}` })),
    ...(multiplier === undefined ? [] : [{ name: "Your factor", text: `× ${multiplier}, included` }]),
  ];
}

const unitsByItem: Readonly<Record<string, string>> = {
  image: "image",
  second: "second",
  call: "call",
  character: "1K characters",
  input_image: "input image",
  search: "search",
};

const itemNames: Readonly<Record<string, string>> = {
  input: "Input",
  cached_input: "Cached input",
  cache_write_5m: "Cache write, 5 minutes",
  cache_write_1h: "Cache write, 1 hour",
  input_audio: "Audio input",
  output: "Output",
  reasoning: "Reasoning",
  output_audio: "Audio output",
  input_image: "Input image",
  call: "Each call",
  search: "Web search",
};

/** A rate with its conditions: `Output above 200,000 input tokens`, `720p, with sound`. */
function describeItem(entry: PriceItem, { currency, isPart }: { currency: string; isPart: boolean }): PriceLine {
  const { item, price, above_input_tokens: above, ...options } = entry;
  const unit = unitsByItem[item];
  const text =
    unit === undefined
      ? `${formatMoney(multiplyByThousand(price), currency)} / 1M tokens`
      : `${formatMoney(price, currency)} / ${unit}`;
  const conditions = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [describeOption(name, value)],
  );
  if (above !== undefined) {
    const scope = isPart ? `beyond ${above.toLocaleString("en")}` : `above ${above.toLocaleString("en")} input`;
    return { name: `${itemNames[item] ?? item} ${scope} tokens`, text };
  }
  return { name: conditions.length > 0 ? conditions.join(", ") : (itemNames[item] ?? "Otherwise"), text };
}

function describeOption(name: string, value: string | number | boolean): string {
  switch (name) {
    case "audio":
      return value === true ? "with sound" : "silent";
    case "input":
      return value === "image" ? "from images" : "from text";
    case "duration":
      return `${value} s`;
    case "frame_rate":
      return `${value} fps`;
    case "size":
    case "resolution":
    case "aspect_ratio":
      return String(value);
    default:
      return `${value} ${name.replaceAll("_", " ")}`;
  }
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
