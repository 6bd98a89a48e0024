import type { PriceList } from "../../api/fetch-catalog.ts";
import { describePrice, multiplyByThousand } from "../../parts/format/describe-price.ts";
import { formatMoney } from "../../parts/format/format-money.ts";

/** A short price for each model. */
export function listBriefPrices(prices: PriceList | undefined): Map<string, string> {
  const byModel = Map.groupBy(prices?.data ?? [], ({ model }) => model);
  return new Map([...byModel].map(([id, own]) => [id, describeBriefPrice(own, prices?.currency ?? "USD")]));
}

type PriceEntry = PriceList["data"][number];

/** A short price for a list row: tokens per million, dramas by their last stage. */
function describeBriefPrice(own: readonly PriceEntry[], currency: string): string {
  const last = own.at(-1);
  if (last === undefined) return "";
  if (last.unit === "1K tokens" && last.input_price !== undefined) {
    const input = formatMoney(multiplyByThousand(last.input_price), currency);
    if (last.output_price === undefined) return `${input} / 1M tokens`;
    return `${input} in · ${formatMoney(multiplyByThousand(last.output_price), currency)} out / 1M tokens`;
  }
  const [line] = describePrice(last, currency);
  return line === undefined ? "" : line.text;
}
