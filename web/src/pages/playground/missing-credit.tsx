import { Link } from "@tanstack/react-router";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Notice } from "../../design/notice.tsx";
import { formatMoney, formatMoneyUp } from "../../parts/format/format-money.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { type Estimate, findHold } from "./estimate-charge.ts";
import type { MediaType } from "./media-fields.ts";
import { fromNano, toNano } from "./nano-amount.ts";

type MissingCreditProps = { type: MediaType; estimates: readonly (Estimate | null)[] };

/** The quota that can pay for a model type instead of money. */
const quotaByType = { image: "image", video: "video", avatar: "video", drama: "video", speech: "text" } as const;

/** States before the run what the balance lacks for its hold, and where to add it. */
export function MissingCredit({ type, estimates }: MissingCreditProps) {
  const { data: balance } = useTableQuery(queryTable.balance.now());
  const held = estimates.reduce((sum, each) => sum + (each === null ? 0n : toNano(findHold(each))), 0n);
  if (balance === undefined || held === 0n || (balance.quotas[quotaByType[type]] ?? 0) > 0) return null;
  const { available_balance: available, currency } = balance;
  const missing = held - toNano(available);
  if (missing <= 0n) return null;
  return (
    <Notice kind="warning" title={`Add ${formatMoneyUp(fromNano(missing), currency)} to run this`}>
      <p>
        The run puts {formatMoney(fromNano(held), currency)} on hold. Your available balance is{" "}
        {formatMoney(available, currency)}.{" "}
        <Link to="/console/billing" className={linkClasses}>
          Add credit
        </Link>
      </p>
    </Notice>
  );
}
