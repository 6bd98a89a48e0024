import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { LoadFailure } from "../../design/load-failure.tsx";
import { ProgressBar } from "../../design/progress-bar.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { formatAmount, nameQuota } from "../../parts/format/format-amount.ts";
import { formatMoment } from "../../parts/format/format-time.ts";

const quotaKinds = ["text", "image", "video"] as const;

export function PlanSection({ timeZone }: { timeZone: string }) {
  const account = useTableQuery(queryTable.account.own());
  const balance = useTableQuery(queryTable.balance.now());
  const error = account.error ?? balance.error;
  if (error !== null) {
    const retry = () => {
      void account.refetch();
      void balance.refetch();
    };
    return (
      <Section title="Plan">
        <LoadFailure error={error} onRetry={retry} />
      </Section>
    );
  }
  if (account.data === undefined || balance.data === undefined) {
    return (
      <Section title="Plan">
        <Skeleton className="h-5.5" />
      </Section>
    );
  }
  const { plan } = account.data;
  if (plan === null) {
    return <Section title="Plan" intro="No plan: every call is paid from your balance." />;
  }
  const { quotas: left, plan: period } = balance.data;
  const given = quotaKinds.filter((kind) => plan.quotas[kind] > 0 || left[kind] > 0);
  const until = period === null ? undefined : `Quotas reset ${formatMoment(period.expires_at, timeZone)}.`;
  return (
    <Section title={`Plan ${plan.name}`} intro={until}>
      {given.length === 0 ? (
        <p className="text-sm text-ink-soft">This plan has no quotas: every call is paid from your balance.</p>
      ) : (
        <ul className="grid gap-x-12 gap-y-5 sm:grid-cols-3">
          {given.map((kind) => (
            <QuotaLeft key={kind} kind={kind} left={left[kind]} whole={Math.max(plan.quotas[kind], left[kind])} />
          ))}
        </ul>
      )}
    </Section>
  );
}

type QuotaLeftProps = { kind: (typeof quotaKinds)[number]; left: number; whole: number };

function QuotaLeft({ kind, left, whole }: QuotaLeftProps) {
  const write = (units: number): string => formatAmount({ unit: kind, amount: String(units), currency: "" });
  return (
    <li className="flex flex-col gap-2 text-sm">
      <p className="flex flex-wrap justify-between gap-x-4">
        <span className="font-medium">{nameQuota(kind)}</span>
        <span className="text-ink-soft tabular-nums">
          {write(left)} left of {whole.toLocaleString("en")}
        </span>
      </p>
      <ProgressBar label={`Remaining ${nameQuota(kind).toLowerCase()}`} percent={Math.round((left / whole) * 100)} />
    </li>
  );
}
