import { getRouteApi } from "@tanstack/react-router";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Stat } from "../../design/stat.tsx";
import { Money } from "../../parts/format/money.tsx";
import { useSearchControls } from "../../parts/forms/use-search-controls.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { lazyPart } from "../../parts/frame/lazy-part.tsx";
import { BucketList } from "../../parts/records/bucket-list.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { AddCredit } from "./add-credit.tsx";
import { DebtNotice } from "./debt-notice.tsx";
import { PlanSection } from "./plan-section.tsx";
import { RedeemCode } from "./redeem-code.tsx";

const route = getRouteApi("/signed-in/console/console/billing");

const CheckoutOutcome = lazyPart(async () => (await import("./checkout-outcome.tsx")).CheckoutOutcome);
const PaymentList = lazyPart(async () => (await import("./payment-list.tsx")).PaymentList);
const StatementSection = lazyPart(
  async () => (await import("./statement-section.tsx")).StatementSection,
  <Skeleton className="h-64" />,
);

export function BillingPage() {
  const [search, change] = useSearchControls(route.useSearch(), route.useNavigate());
  const { checkout, canceled, from = "", to = "" } = search;
  const { time_zone: timeZone } = useSession().account;
  const site = useTableQuery(queryTable.site.settings());
  if (site.error !== null && site.data === undefined) {
    return (
      <ConsoleFrame title="Billing">
        <LoadFailure error={site.error} onRetry={() => void site.refetch()} />
      </ConsoleFrame>
    );
  }
  return (
    <ConsoleFrame title="Billing">
      {checkout !== undefined && <CheckoutOutcome id={checkout} isCanceled={canceled !== undefined} />}
      <DebtNotice />
      <BalanceSection timeZone={timeZone} />
      <PlanSection timeZone={timeZone} />
      {site.data === undefined ? (
        <Skeleton className="h-64" />
      ) : (
        <>
          <div className="grid gap-x-12 gap-y-10 lg:grid-cols-2">
            <AddCredit site={site.data} />
            <RedeemCode timeZone={timeZone} />
          </div>
          <PaymentList isOffered={site.data.payments === "stripe"} timeZone={timeZone} />
          <StatementSection
            period={{ from, to }}
            onPeriod={(period) => change({ ...period, checkout: "", canceled: "" })}
            currency={site.data.currency}
            timeZone={timeZone}
          />
        </>
      )}
    </ConsoleFrame>
  );
}

function BalanceSection({ timeZone }: { timeZone: string }) {
  const balance = useTableQuery(queryTable.balance.now());
  if (balance.error !== null && balance.data === undefined) {
    return <LoadFailure error={balance.error} onRetry={() => void balance.refetch()} />;
  }
  const write = (name: "available_balance" | "frozen_balance" | "cash_balance" | "gift_balance") =>
    balance.data === undefined ? undefined : <Money amount={balance.data[name]} currency={balance.data.currency} />;
  return (
    <div className="grid gap-x-12 gap-y-8 lg:grid-cols-2">
      <div className="grid grid-cols-2 content-start gap-x-8 gap-y-6">
        <Stat label="Available balance" value={write("available_balance")} detail="Cash and gifts not on hold" />
        <Stat label="On hold" value={write("frozen_balance")} detail="For running calls and tasks" />
        <Stat label="Cash" value={write("cash_balance")} />
        <Stat label="Gifts" value={write("gift_balance")} />
      </div>
      <Section title="Spent in this order" intro="Including amounts on hold.">
        <BucketList currency={balance.data?.currency ?? "USD"} timeZone={timeZone} include="money" />
      </Section>
    </div>
  );
}
