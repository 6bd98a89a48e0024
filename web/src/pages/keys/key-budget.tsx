import type { ApiKey } from "../../api/fetch-keys.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { measureShare } from "../../parts/format/measure-share.ts";
import { Money } from "../../parts/format/money.tsx";
import { periodNames } from "./key-labels.ts";

export function KeyBudget({ apiKey: { name, budget } }: { apiKey: ApiKey }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  if (budget === null || site === undefined) return <span className="text-ink-soft">No budget</span>;
  return (
    <div className="flex max-w-52 min-w-32 flex-col gap-1.5">
      <span className="tabular-nums">
        <Money amount={budget.spent} currency={site.currency} />{" "}
        <span className="text-ink-soft">
          of {formatMoney(budget.amount, site.currency)} {periodNames[budget.period]}
        </span>
      </span>
      <ProgressBar label={`Budget spent by ${name}`} percent={measureShare(budget.spent, budget.amount)} />
    </div>
  );
}
