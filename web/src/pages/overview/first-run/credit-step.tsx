import { Link } from "@tanstack/react-router";
import { queryTable } from "../../../api/query-table.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Skeleton } from "../../../design/skeleton.tsx";
import { formatRoughMoney } from "../../../parts/format/format-money.ts";
import { isMoneyZero } from "../../../parts/format/sum-money.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { SupportContact } from "../../../parts/records/support-contact.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { Step } from "./step.tsx";

/** The account's credit, or how to get some. */
export function CreditStep() {
  const { data: balance } = useTableQuery(queryTable.balance.now());
  const { data: site } = useTableQuery(queryTable.site.settings());
  if (balance === undefined || site === undefined) {
    return (
      <Step title="Credit" isDone={false}>
        <Skeleton className="h-5 w-40" />
      </Step>
    );
  }
  if (balance.plan !== null || !isMoneyZero(balance.available_balance)) {
    const amount = formatRoughMoney(balance.available_balance, balance.currency);
    return (
      <Step title={isMoneyZero(balance.available_balance) ? "Credit" : `${amount} of credit`} isDone>
        <p>{balance.plan === null ? "Calls use this credit." : `Your plan: ${balance.plan.name}.`}</p>
      </Step>
    );
  }
  return (
    <Step title="No credit yet" isDone={false}>
      {site.payments === "stripe" ? (
        <p>
          Calls are paid from your balance.{" "}
          <Link to="/console/billing" className={linkClasses}>
            Add credit by card, or redeem a code
          </Link>
          .
        </p>
      ) : (
        <AskForCredit contact={site.support_contact} />
      )}
    </Step>
  );
}

function AskForCredit({ contact }: { contact: string | null }) {
  const { email } = useSession().user;
  return (
    <p>
      Card payments aren't enabled here. Ask <SupportContact contact={contact} /> to add credit to{" "}
      <strong className="font-medium break-all text-ink">{email}</strong>, or for a code to{" "}
      <Link to="/console/billing" className={linkClasses}>
        redeem in Billing
      </Link>
      .
    </p>
  );
}
