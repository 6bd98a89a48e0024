import { getRouteApi, Link } from "@tanstack/react-router";
import { ApiError } from "../../api/console-api.ts";
import type { ExplainedCharge } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { buttonClasses } from "../../design/button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { type Fact, FactList } from "../../design/fact-list.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { countDecimals } from "../../parts/format/align-figures.ts";
import { describeMinimum, describePrice, multiplyByThousand } from "../../parts/format/describe-price.ts";
import { formatAmount, nameQuota } from "../../parts/format/format-amount.ts";
import { formatCount, formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";
import { isMoneyZero, sumMoney } from "../../parts/format/sum-money.ts";
import { ConsoleFrame } from "../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { writeCharge } from "../../parts/records/charge-columns.tsx";
import { useSession } from "../../parts/session/use-session.ts";

const route = getRouteApi("/signed-in/console/console/usage/charges/$id");

const usage = [{ to: "/console/usage", name: "Usage" }];

export function ChargePage() {
  const { id } = route.useParams();
  const charge = useTableQuery(queryTable.charges.one(id));
  const site = useTableQuery(queryTable.site.settings());
  const error = charge.error ?? site.error;
  if (error instanceof ApiError && error.status === 404) return <NoSuchCharge />;
  if (error !== null) {
    const retry = () => {
      void charge.refetch();
      void site.refetch();
    };
    return (
      <ConsoleFrame title="Charge" parents={usage}>
        <LoadFailure error={error} onRetry={retry} />
      </ConsoleFrame>
    );
  }
  if (charge.data === undefined || site.data === undefined) {
    return (
      <ConsoleFrame title="Charge" parents={usage}>
        <div aria-busy="true" className="flex flex-col gap-8">
          <p className="sr-only">Loading</p>
          <Skeleton className="h-24" />
          <Skeleton className="h-72" />
        </div>
      </ConsoleFrame>
    );
  }
  const { currency } = site.data;
  const { model } = charge.data;
  return (
    <ConsoleFrame title={model === null ? "Charge" : `Charge for ${model}`} parents={usage}>
      <div className="-mt-4 flex flex-col gap-1">
        <p className="text-2xl font-semibold tabular-nums">{writeCharge(charge.data, currency)}</p>
        <p className="text-ink-soft">{charge.data.summary}</p>
      </div>
      <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-10">
          <ChargeBill charge={charge.data} currency={currency} />
          <ChargeMoney charge={charge.data} currency={currency} />
        </div>
        <div className="flex min-w-0 flex-col gap-10">
          <ChargeOrigin charge={charge.data} />
          {charge.data.price !== null && (
            <ChargePrice charge={charge.data} price={charge.data.price} currency={currency} />
          )}
        </div>
      </div>
    </ConsoleFrame>
  );
}

function ChargeOrigin({ charge }: { charge: ExplainedCharge }) {
  const { time_zone: timeZone } = useSession().account;
  const { data: keyNames } = useTableQuery(queryTable.keys.names());
  const { model, key_id: keyId, task_id: taskId, request_id: requestId } = charge;
  const facts: (Fact | false)[] = [
    { name: "Time", value: formatMoment(new Date(charge.created * 1000).toISOString(), timeZone) },
    model !== null && {
      name: "Model",
      value: (
        <Link to="/console/models/$" params={{ _splat: model }} className={linkClasses}>
          {model}
        </Link>
      ),
    },
    taskId !== null && {
      name: "Task",
      value: (
        <Link to="/console/tasks/$id" params={{ id: taskId }} className={linkClasses}>
          Open task
        </Link>
      ),
    },
    keyId !== null && { name: "Key", value: keyNames?.get(keyId) ?? keyId },
    requestId !== null && {
      name: "Request",
      value: (
        <Link to="/console/requests/$id" params={{ id: requestId }} className={linkClasses}>
          Open request
        </Link>
      ),
    },
    requestId !== null && { name: "Request ID", value: <CopyableText text={requestId} label="request ID" /> },
    { name: "Charge ID", value: <CopyableText text={charge.id} label="charge ID" /> },
  ];
  return (
    <section aria-label="Details" className="flex flex-col gap-3">
      <h2 className="font-semibold">Details</h2>
      <FactList facts={facts.filter((fact) => fact !== false)} />
    </section>
  );
}

function NoSuchCharge() {
  return (
    <ConsoleFrame title="Charge not found" parents={usage}>
      <EmptyState
        title="Your account has no such charge."
        action={
          <Link to="/console/usage" className={buttonClasses("plain")}>
            See your usage
          </Link>
        }
      >
        Check the ID. The charge may belong to another account.
      </EmptyState>
    </ConsoleFrame>
  );
}

type Item = ExplainedCharge["items"][number];

/** Quantity × rate per line item. The total is the subtotal, rounded once. */
function ChargeBill({ charge, currency }: { charge: ExplainedCharge; currency: string }) {
  const { items, unit, cost, minimum_charge: minimum, cache_saving: saving } = charge;
  const sum = sumMoney(items.map(({ amount }) => amount));
  const hasMinimum = !isMoneyZero(minimum);
  return (
    <Section title="Calculation">
      <DataTable
        label="Line items"
        columns={listColumns(items, currency)}
        rows={items}
        keyOf={({ name, rate, price_id: priceId }) => `${name} ${rate} ${priceId ?? ""}`}
        empty={<p className="text-sm text-ink-soft">No line items.</p>}
      />
      <FactList
        facts={[
          { name: "Subtotal", value: formatMoney(sum, currency) },
          ...(hasMinimum ? [{ name: "Minimum charge", value: formatMoney(minimum, currency) }] : []),
          ...(saving === undefined ? [] : [{ name: "Saved by the cache", value: formatMoney(saving, currency) }]),
          {
            name: unit === "money" ? "Total" : "Total, from your plan's quota",
            value: <span className="font-semibold">{formatAmount({ unit, amount: cost, currency })}</span>,
          },
        ]}
      />
    </Section>
  );
}

function listColumns(items: readonly Item[], currency: string): Column<Item>[] {
  const decimals = countDecimals(items.map(({ amount }) => formatMoney(amount, currency)));
  return [
    { name: "Item", cell: ({ name }) => nameItem(name) },
    { name: "Quantity", align: "right", cell: ({ quantity }) => formatCount(quantity) },
    {
      name: "× Rate",
      align: "right",
      cell: ({ name, rate, per }) => {
        const isByMillion = per === 1000 && name.endsWith("_tokens");
        return (
          <>
            {formatMoney(isByMillion ? multiplyByThousand(rate) : rate, currency)}
            {per !== 1 && <span className="text-ink-soft"> / {isByMillion ? "1M" : formatCount(per)}</span>}
          </>
        );
      },
    },
    {
      name: "= Amount",
      align: "right",
      cell: ({ amount }) => <MoneyCell figure={formatMoney(amount, currency)} decimals={decimals} />,
    },
  ];
}

const cacheWrites: Record<string, string> = {
  cache_write_5m_tokens: "Cache write tokens (5 minutes)",
  cache_write_1h_tokens: "Cache write tokens (1 hour)",
};

/** `cached_input_tokens` → "Cached input tokens". */
function nameItem(name: string): string {
  const known = cacheWrites[name];
  if (known !== undefined) return known;
  const words = name.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

type ChargePriceProps = {
  charge: ExplainedCharge;
  price: NonNullable<ExplainedCharge["price"]>;
  currency: string;
};

/** The price version at the start of the work, and what chose its rates. Versions are immutable. */
function ChargePrice({ charge, price, currency }: ChargePriceProps) {
  const { time_zone: timeZone } = useSession().account;
  const minimum = describeMinimum(price, currency);
  return (
    <section aria-label="Price" className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h2 className="font-semibold">Price</h2>
        <Badge kind={price.is_current ? "good" : "neutral"}>{price.is_current ? "Current price" : "Superseded"}</Badge>
      </div>
      <FactList
        facts={[
          ...describePrice(price, currency).map(({ name, text }) => ({ name: name ?? "Price", value: text })),
          ...(minimum === null ? [] : [{ name: "Minimum", value: minimum }]),
          ...Object.entries(charge.priced_by ?? {}).map(([name, value]) => ({
            name: `Used: ${nameItem(name)}`,
            value,
          })),
          { name: "Effective since", value: formatMoment(price.effective_at, timeZone) },
          { name: "Version", value: <CopyableText text={price.id} label="price ID" /> },
        ]}
      />
    </section>
  );
}

/** Hold, credit buckets, refunds and the balance after. */
function ChargeMoney({ charge, currency }: { charge: ExplainedCharge; currency: string }) {
  const { time_zone: timeZone } = useSession().account;
  const { unit, buckets, refunds, held, lost, balance_after: after } = charge;
  const write = (amount: string): string => formatAmount({ unit, amount, currency });
  const nameBucket = (kind: "cash" | "gift" | "quota"): string =>
    kind === "cash" ? "Cash" : kind === "gift" || unit === "money" ? "Gift" : nameQuota(unit);
  const paid = buckets.map(
    ({ kind, amount, expires_at: expiresAt }, index): Fact => ({
      id: `bucket ${index}`,
      name: `${nameBucket(kind)}${expiresAt === null ? "" : `, expires ${formatMoment(expiresAt, timeZone)}`}`,
      value: write(amount),
    }),
  );
  const back = refunds.map(
    ({ id, amount, created }): Fact => ({
      id,
      name: `Refunded ${formatMoment(new Date(created * 1000).toISOString(), timeZone)}`,
      value: `+${write(amount)}`,
    }),
  );
  return (
    <Section title="Paid from">
      {!isMoneyZero(lost) && <Notice kind="hint">{write(lost)} of the cost was not charged. You do not owe it.</Notice>}
      <FactList
        facts={[
          { name: "Hold before the call", value: write(held) },
          ...paid,
          ...back,
          ...(after === null ? [] : [{ name: "Balance after", value: write(after) }]),
        ]}
      />
    </Section>
  );
}
