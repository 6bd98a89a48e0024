import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Notice } from "../../design/notice.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";

/** A payment was reversed after its credit was spent, so the account is suspended until the debt is paid. */
export function DebtNotice() {
  const { data: debt } = useTableQuery(queryTable.balance.debt());
  if (debt === undefined || debt.data.length === 0) return null;
  const kinds = new Set(debt.data.map(({ kind }) => (kind === "refund" ? "refunded" : "disputed")));
  return (
    <Notice kind="warning" title={`Account suspended: ${formatMoney(debt.amount, debt.currency)} owed`}>
      <p>
        A payment was {[...kinds].join(" or ")} after its credit had been spent. API calls are refused until the amount
        is paid. Add credit below: it pays this first. If you think this is wrong, contact the service's operator.
      </p>
    </Notice>
  );
}
