import type { PriceList } from "../../api/fetch-catalog.ts";
import { describeMinimum, describePrice } from "../../parts/format/describe-price.ts";

type PriceLinesProps = { entries: PriceList["data"]; currency: string };

/** One line per price. */
export function PriceLines({ entries, currency }: PriceLinesProps) {
  const lines = entries.flatMap((entry) => {
    const minimum = describeMinimum(entry, currency);
    return describePrice(entry, currency).map((line) => ({ ...line, minimum }));
  });
  return (
    <ul className="flex flex-col gap-0.5 tabular-nums">
      {lines.map(({ name, text, minimum }) => (
        <li key={`${name} ${text}`}>
          {name !== null && <span className="text-ink-soft">{name} </span>}
          <span className="whitespace-nowrap">{text}</span>
          {minimum !== null && <span className="block text-xs text-ink-soft">{minimum}</span>}
        </li>
      ))}
    </ul>
  );
}
