import type { ExplainedCharge } from "../../api/ask-spending.ts";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { FactList } from "../../design/fact-list.tsx";
import { Section } from "../../design/section.tsx";
import { formatAmount } from "../../parts/format/format-amount.ts";
import { formatCount, formatMoney } from "../../parts/format/format-money.ts";
import { isMoneyZero, sumMoney } from "../../parts/format/sum-money.ts";

type Item = ExplainedCharge["items"][number];

/** Quantity × rate per line item. The total is the subtotal, rounded once. */
export function ChargeBill({ charge, currency }: { charge: ExplainedCharge; currency: string }) {
  const { items, unit, cost, minimum_charge: minimum, cache_saving: saving } = charge;
  const sum = sumMoney(items.map(({ amount }) => amount));
  const hasMinimum = !isMoneyZero(minimum);
  return (
    <Section title="Calculation">
      <DataTable
        label="Line items"
        columns={listColumns(currency)}
        rows={items}
        keyOf={({ name, price_id: priceId }) => `${name} ${priceId ?? ""}`}
        empty={<p className="text-sm text-ink-soft">No line items.</p>}
      />
      <FactList
        facts={[
          { name: "Subtotal", value: formatMoney(sum, currency) },
          ...(hasMinimum ? [{ name: "Minimum charge", value: formatMoney(minimum, currency) }] : []),
          ...(saving === undefined ? [] : [{ name: "Saved by the cache", value: formatMoney(saving, currency) }]),
          {
            name: unit === "money" ? "Total" : "Total, from your plan's quota",
            value: <span className="font-semibold">{formatAmount({ unit, amount: cost, currency })}</span>,
          },
        ]}
      />
    </Section>
  );
}

function listColumns(currency: string): Column<Item>[] {
  return [
    { name: "Item", cell: ({ name }) => nameItem(name) },
    { name: "Quantity", align: "right", cell: ({ quantity }) => formatCount(quantity) },
    {
      name: "× Rate",
      align: "right",
      cell: ({ rate, per }) => (
        <>
          {formatMoney(rate, currency)}
          {per !== 1 && <span className="text-ink-soft"> / {formatCount(per)}</span>}
        </>
      ),
    },
    { name: "= Amount", align: "right", cell: ({ amount }) => formatMoney(amount, currency) },
  ];
}

const cacheWrites: Record<string, string> = {
  cache_write_5m_tokens: "Cache write tokens (5 minutes)",
  cache_write_1h_tokens: "Cache write tokens (1 hour)",
};

/** `cached_input_tokens` → "Cached input tokens". */
function nameItem(name: string): string {
  const known = cacheWrites[name];
  if (known !== undefined) return known;
  const words = name.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
