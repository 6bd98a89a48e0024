import type { Bucket } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { type Fact, FactList } from "../../design/fact-list.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatAmount, nameQuota } from "../format/format-amount.ts";
import { formatMoment } from "../format/format-time.ts";
import { Money } from "../format/money.tsx";

type BucketListProps = { currency: string; timeZone: string; include: "all" | "money"; refreshMs?: number };

/** Credit buckets in spending order with their expiry; quotas last. */
export function BucketList({ currency, timeZone, include, refreshMs }: BucketListProps) {
  const buckets = useTableQuery(queryTable.balance.buckets(), refreshMs === undefined ? {} : { refreshMs });
  if (buckets.error !== null && buckets.data === undefined) {
    return <LoadFailure error={buckets.error} onRetry={() => void buckets.refetch()} />;
  }
  if (buckets.data === undefined) return <Skeleton className="h-11" />;
  const { money = [], quota = [] } = Object.groupBy(buckets.data.data, ({ unit }) =>
    unit === "money" ? unit : "quota",
  );
  const shown = include === "all" ? [...money, ...quota] : money;
  if (shown.length === 0) return <FactList facts={[{ name: "Cash", value: write(noCash, currency) }]} />;
  const facts = shown.map(
    (bucket, index): Fact => ({
      id: `bucket ${index}`,
      name: nameBucket(bucket),
      value: (
        <>
          {bucket.unit === "money" ? (
            <Money amount={bucket.balance} currency={currency} isAtRight />
          ) : (
            write(bucket, currency)
          )}
          {bucket.expires_at !== null && (
            <span className="block text-xs text-ink-soft">expires {formatMoment(bucket.expires_at, timeZone)}</span>
          )}
        </>
      ),
    }),
  );
  return (
    <>
      <FactList facts={facts} />
      {buckets.data.has_more && <p className="text-xs text-ink-soft">More credit is spent after this.</p>}
    </>
  );
}

const noCash = { unit: "money", balance: "0.00" } as const;

function write({ unit, balance }: Pick<Bucket, "unit" | "balance">, currency: string): string {
  return formatAmount({ unit, amount: balance, currency });
}

function nameBucket({ kind, unit }: Bucket): string {
  if (unit !== "money") return nameQuota(unit);
  return kind === "cash" ? "Cash" : "Gift";
}
