import { Link } from "@tanstack/react-router";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { Money } from "../../parts/format/money.tsx";
import { BucketList } from "../../parts/records/bucket-list.tsx";
import { HoldList } from "./hold-list.tsx";
import { refreshMs } from "./refresh-interval.ts";

export function BalanceSummary({ timeZone }: { timeZone: string }) {
  const balance = useTableQuery(queryTable.balance.now(), { refreshMs });
  if (balance.error !== null && balance.data === undefined) {
    return <LoadFailure error={balance.error} onRetry={() => void balance.refetch()} />;
  }
  const { available_balance: available, frozen_balance: held, currency = "USD" } = balance.data ?? {};
  return (
    <div className="grid gap-x-12 gap-y-10 lg:grid-cols-2">
      <Section
        title="Available balance"
        actions={
          <Link to="/console/billing" className={buttonClasses("quiet", "-mr-2")}>
            Add credit
          </Link>
        }
      >
        <Amount amount={available} currency={currency} />
        <BucketList currency={currency} timeZone={timeZone} include="all" refreshMs={refreshMs} />
      </Section>
      <Section title="On hold">
        <Amount amount={held} currency={currency} />
        <HoldList currency={currency} timeZone={timeZone} />
      </Section>
    </div>
  );
}

function Amount({ amount, currency }: { amount: string | undefined; currency: string }) {
  return (
    <div className="-mt-2 min-h-9 text-2xl font-semibold tabular-nums">
      {amount === undefined ? <Skeleton className="h-9 w-40" /> : <Money amount={amount} currency={currency} />}
    </div>
  );
}
