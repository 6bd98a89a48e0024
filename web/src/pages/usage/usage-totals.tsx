import type { Usage } from "../../api/ask-spending.ts";
import { Stat } from "../../design/stat.tsx";
import { formatAmount, type Unit } from "../../parts/format/format-amount.ts";
import { formatCount } from "../../parts/format/format-money.ts";
import { Money } from "../../parts/format/money.tsx";

export function UsageTotals({ usage }: { usage: Usage | undefined }) {
  const total = usage?.total;
  const count = (value: number | undefined) => (value === undefined ? undefined : formatCount(value));
  const cached = total?.cached_input_tokens ?? 0;
  return (
    <div className="grid grid-cols-2 gap-x-8 gap-y-6 lg:grid-cols-4">
      <Stat
        label="Charge"
        value={usage === undefined ? undefined : <Money amount={usage.total.charge} currency={usage.currency} />}
        detail={usage === undefined ? "" : writeQuotas(usage)}
      />
      <Stat label="Calls and tasks" value={count(total?.calls)} detail={total === undefined ? "" : writeMade(total)} />
      <Stat
        label="Input tokens"
        value={count(total?.input_tokens)}
        detail={cached === 0 ? "" : `${formatCount(cached)} from cache`}
      />
      <Stat label="Output tokens" value={count(total?.output_tokens)} detail="" />
    </div>
  );
}

/** Usage paid from the plan's quotas. */
function writeQuotas({ total, currency }: Usage): string {
  const used = Object.entries(total.quota).filter(([, units]) => units > 0);
  if (used.length === 0) return "";
  const texts = used.map(([unit, units]) => formatAmount({ unit: unit as Unit, amount: String(units), currency }));
  return `and ${texts.join(", ")} of your quotas`;
}

function writeMade({ images, seconds, characters }: Usage["total"]): string {
  const made = [
    [images, "image"],
    [seconds, "second"],
    [characters, "character"],
  ] as const;
  const texts = made.flatMap(([count, name]) =>
    count === 0 ? [] : [`${formatCount(count)} ${name}${count === 1 ? "" : "s"}`],
  );
  return texts.join(", ");
}
