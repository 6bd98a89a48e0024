import type { PriceList } from "../../api/ask-catalog.ts";
import { describePrice } from "../../parts/format/describe-price.ts";
import { formatMoney } from "../../parts/format/format-money.ts";
import { fromNano, toNano } from "./nano-amount.ts";

type PriceEntry = PriceList["data"][number];

/** A short price for a list row: tokens per million, dramas by their last stage. */
export function describeBriefPrice(own: readonly PriceEntry[], currency: string): string {
  const last = own.at(-1);
  if (last === undefined) return "";
  if (last.unit === "1K tokens" && last.input_price !== undefined) {
    const input = formatMoney(perMillion(last.input_price), currency);
    if (last.output_price === undefined) return `${input} / 1M tokens`;
    return `${input} in · ${formatMoney(perMillion(last.output_price), currency)} out / 1M tokens`;
  }
  const [line] = describePrice(last, currency);
  return line === undefined ? "" : line.text;
}

function perMillion(amount: string): string {
  return fromNano(toNano(amount) * 1000n);
}
