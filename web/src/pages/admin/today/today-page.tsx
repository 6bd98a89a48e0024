import type { ReactNode } from "react";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { DayField } from "../../../design/day-field.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { Stat } from "../../../design/stat.tsx";
import { formatCount, formatRoughMoney } from "../../../parts/format/format-money.ts";
import { formatSince } from "../../../parts/format/format-time.ts";
import { Money } from "../../../parts/format/money.tsx";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { AdminLink, type AdminSearch, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { Today } from "../fetch-admin.ts";

/** A day of the business. Every figure leads to its rows. */
export function TodayPage() {
  const { search, change } = useAdminPlace();
  const today = useTableQuery(adminQueries.adminToday.day(search.day));
  const { data, error } = today;
  return (
    <ConsoleFrame
      title="Today"
      intro={
        data === undefined
          ? "The figures of a day."
          : `The figures of ${data.day} (${data.time_zone}), beside the day before.`
      }
      actions={<DayField label="Day" value={search.day ?? data?.day ?? ""} onChange={(day) => change({ day })} />}
    >
      {data === undefined && error === null && <Skeleton className="h-96" />}
      {data === undefined && error !== null && (
        <LoadFailure title="Could not load the figures." error={error} onRetry={() => void today.refetch()} />
      )}
      {data !== undefined && <Figures today={data} />}
    </ConsoleFrame>
  );
}

const gridClasses = "grid grid-cols-2 gap-x-8 gap-y-6 sm:grid-cols-3 lg:grid-cols-4";

function Figures({ today }: { today: Today }) {
  const { current, previous, currency, queues } = today;
  const period = { from: current.from, to: current.to };
  const now = new Date();
  const money = (name: MoneyName, label: string, place: Place) => (
    <Figure label={label} place={place} detail={`${formatRoughMoney(previous[name], currency)} the day before`}>
      <Money amount={current[name]} currency={currency} />
    </Figure>
  );
  const count = (name: CountName, label: string, place: Place) => (
    <Figure label={label} place={place} detail={`${formatCount(previous[name])} the day before`}>
      {formatCount(current[name])}
    </Figure>
  );
  return (
    <>
      <Section title="Business">
        <div className={gridClasses}>
          {money("revenue", "Revenue", { to: "money", search: { view: "margins", ...period } })}
          {money("cost", "Cost", { to: "money", search: { view: "margins", by: "route", ...period } })}
          {money("margin", "Margin", { to: "money", search: { view: "margins", ...period } })}
          {count("calls", "Charged calls", { to: "money", search: { view: "margins", ...period } })}
          {current.errors !== null && (
            <Figure
              label="Errors"
              place={{ to: "requests", search: { status: "5xx", ...period } }}
              detail={
                previous.errors === null
                  ? "not counted the day before"
                  : `${formatCount(previous.errors)} the day before`
              }
            >
              {formatCount(current.errors)}
            </Figure>
          )}
          {count("active_accounts", "Active accounts", {
            to: "money",
            search: { view: "margins", by: "account", ...period },
          })}
          {count("new_accounts", "New accounts", { to: "accounts", search: {} })}
        </div>
        {current.calls_without_cost > 0 && (
          <p className="text-sm text-ink-soft">
            {`Without the cost of ${formatCount(current.calls_without_cost)} calls, which is not known. The margin is that much too high.`}
          </p>
        )}
      </Section>
      <Section title="Credit">
        <div className={gridClasses}>
          {money("money_in", "Money in", { to: "money", search: { view: "entries", kind: "top_up", ...period } })}
          {money("credit_given", "Given away", { to: "money", search: { view: "entries", kind: "grant", ...period } })}
          {money("refunds", "Refunded charges", {
            to: "money",
            search: { view: "entries", kind: "refund", ...period },
          })}
          {money("reversed", "Reversed payments", {
            to: "money",
            search: { view: "entries", kind: "reversal", ...period },
          })}
          <Figure
            label="Owed to customers"
            place={{ to: "money", search: { view: "revenue" } }}
            detail="credit they have now"
          >
            <Money amount={today.liability} currency={currency} />
          </Figure>
          <Figure
            label="Owed by customers"
            place={{ to: "money", search: { view: "frozen" } }}
            detail="for reversed payments, now"
          >
            <Money amount={today.owed} currency={currency} />
          </Figure>
        </div>
      </Section>
      <Section title="Alarms and queues" intro="Now.">
        <div className={gridClasses}>
          <Figure label="Firing alarms" place={{ to: "alarms", search: {} }} detail="not yet acknowledged">
            {formatCount(today.firing_alarms)}
          </Figure>
          <Figure
            label="Queued tasks"
            place={{ to: "work", search: { state: "queued" } }}
            detail={
              queues.oldest_queued_at === null ? "none waits" : `oldest ${formatSince(queues.oldest_queued_at, now)}`
            }
          >
            {formatCount(queues.queued_tasks)}
          </Figure>
          <Figure
            label="Processing tasks"
            place={{ to: "work", search: { state: "processing" } }}
            detail="at upstreams"
          >
            {formatCount(queues.processing_tasks)}
          </Figure>
          <Figure
            label="Waiting for an upstream"
            place={{ to: "work", search: { view: "queues" } }}
            detail="of the queued tasks"
          >
            {formatCount(queues.waiting_tasks)}
          </Figure>
          <Figure
            label="Pending deliveries"
            place={{ to: "work", search: { view: "webhooks", state: "pending" } }}
            detail={
              queues.delivery_due_at === null ? "none is due" : `first due ${formatSince(queues.delivery_due_at, now)}`
            }
          >
            {formatCount(queues.pending_deliveries)}
          </Figure>
        </div>
      </Section>
    </>
  );
}

type Place = { to: string; search: AdminSearch };
type MoneyName = "revenue" | "cost" | "margin" | "money_in" | "credit_given" | "refunds" | "reversed";
type CountName = "calls" | "active_accounts" | "new_accounts";

type FigureProps = { label: string; place: Place; detail: string; children: ReactNode };

function Figure({ label, place, detail, children }: FigureProps) {
  return (
    <AdminLink to={place.to} search={place.search} className="rounded-md hover:bg-sunken">
      <Stat label={label} value={children} detail={detail} />
    </AdminLink>
  );
}
