import type { ExplainedCharge } from "../../api/ask-spending.ts";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { FactList } from "../../design/fact-list.tsx";
import { Section } from "../../design/section.tsx";
import { formatAmount } from "../../parts/format-amount.ts";
import { formatCount, formatMoney } from "../../parts/format-money.ts";
import { isMoneyZero, sumMoney } from "../../parts/sum-money.ts";

type Item = ExplainedCharge["items"][number];

/** Quantity × rate for everything that was counted, and how the sum became the cost. */
export function ChargeBill({ charge, currency }: { charge: ExplainedCharge; currency: string }) {
  const { items, unit, cost, minimum_charge: minimum } = charge;
  const sum = sumMoney(items.map(({ amount }) => amount));
  const hasMinimum = !isMoneyZero(minimum);
  return (
    <Section title="How it was counted">
      <DataTable
        label="What was counted"
        columns={listColumns(currency)}
        rows={items}
        keyOf={({ name, price_id: priceId }) => `${name} ${priceId ?? ""}`}
        empty={<p className="text-sm text-ink-soft">Nothing was itemized.</p>}
      />
      <FactList
        facts={[
          { name: "Sum", value: formatMoney(sum, currency) },
          ...(hasMinimum ? [{ name: "At least", value: formatMoney(minimum, currency) }] : []),
          {
            name: unit === "money" ? "Cost, the sum rounded once" : "Cost, taken from your plan's quota",
            value: <span className="font-semibold">{formatAmount({ unit, amount: cost, currency })}</span>,
          },
        ]}
      />
    </Section>
  );
}

function listColumns(currency: string): Column<Item>[] {
  return [
    { name: "What", cell: ({ name }) => nameItem(name) },
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

/** `cached_input_tokens` as people say it. */
function nameItem(name: string): string {
  const words = name.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
