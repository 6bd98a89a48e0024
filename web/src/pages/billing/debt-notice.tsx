import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, ask } from "../../api/console-api.ts";
import { Notice } from "../../design/notice.tsx";
import { formatMoney } from "../../parts/format-money.ts";

/** Under the balance, so that whatever changes that asks for this again. */
const debtQuery = queryOptions({ queryKey: ["balance", "debt"], queryFn: () => ask(api.GET("/debt")) });

/** Why an account spends nothing although somebody may have paid: a payment was reversed after it was spent. */
export function DebtNotice() {
  const { data: debt } = useQuery(debtQuery);
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
