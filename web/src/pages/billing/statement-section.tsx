import { Link } from "@tanstack/react-router";
import type { StatementEntry as Entry, StatementRange } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { usePageQuery } from "../../api/use-page-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { type Column, DataTable } from "../../design/data-table.tsx";
import { DayField } from "../../design/day-field.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { LoadMore } from "../../design/load-more.tsx";
import { Section } from "../../design/section.tsx";
import { countDecimals } from "../../parts/format/align-figures.ts";
import { addDays, isDay } from "../../parts/format/calendar-days.ts";
import { formatAmount, formatChange } from "../../parts/format/format-amount.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { MoneyCell } from "../../parts/format/money-cell.tsx";

/** Inclusive days; empty for no limit. */
type Period = { from: string; to: string };

type StatementSectionProps = {
  period: Period;
  onPeriod(period: Period): void;
  currency: string;
  timeZone: string;
};

/** Every movement of money and quotas, newest first, with the balance after it. */
export function StatementSection({ period, onPeriod, currency, timeZone }: StatementSectionProps) {
  const range = readRange(period);
  const isReversed = range.from !== undefined && range.to !== undefined && range.to <= range.from;
  const asked = isReversed ? {} : range;
  const { rows, more, ...entries } = usePageQuery(queryTable.ledger.list(asked));
  const isLimited = Object.keys(asked).length > 0;
  return (
    <Section
      title="Statement"
      intro={`All times are in ${timeZone}.`}
      actions={
        <>
          <DayField label="First day" value={period.from} onChange={(from) => onPeriod({ ...period, from })} />
          <DayField
            label="Last day"
            value={period.to}
            error={isReversed ? "Choose a last day after the first day." : null}
            onChange={(to) => onPeriod({ ...period, to })}
          />
          <a
            href={`/console/api/ledger?${new URLSearchParams({ ...asked, format: "csv" })}`}
            download="statement.csv"
            className={buttonClasses("plain")}
          >
            <Icon name="download" />
            Download CSV
          </a>
        </>
      }
    >
      <DataTable
        label="Statement entries"
        columns={listColumns(rows ?? [], currency, timeZone)}
        rows={rows}
        {...entries}
        keyOf={({ id }) => id}
        expectedRows={8}
        empty={
          <EmptyState title={isLimited ? "No entries in this period." : "No entries yet."}>
            {isLimited
              ? "Choose another period."
              : "Every credit and charge appears here. Add credit or redeem a code to begin."}
          </EmptyState>
        }
      />
      <LoadMore {...more} />
    </Section>
  );
}

/** The API's end is exclusive: the start of the next day. */
function readRange({ from, to }: Period): StatementRange {
  return { ...(isDay(from) ? { from } : {}), ...(isDay(to) ? { to: addDays(to, 1) } : {}) };
}

/** Statements keep every digit. */
function listColumns(rows: readonly Entry[], currency: string, timeZone: string): Column<Entry>[] {
  const writeAmount = ({ unit, amount }: Entry): string => formatChange({ unit, amount, currency });
  const writeBalance = ({ unit, balance }: Entry): string => formatAmount({ unit, amount: balance, currency });
  const decimals = { amount: countDecimals(rows.map(writeAmount)), balance: countDecimals(rows.map(writeBalance)) };
  const created = (entry: Entry): string => formatMoment(new Date(entry.created * 1000).toISOString(), timeZone);
  return [
    {
      name: "Description",
      hasNames: true,
      cell: (entry) => (
        <div className="flex min-w-28 flex-col gap-0.5">
          <EntryName entry={entry} />
          <span className="text-xs text-ink-soft sm:hidden">{created(entry)}</span>
        </div>
      ),
    },
    {
      name: "Time",
      isSecondary: true,
      cell: (entry) => <span className="whitespace-nowrap text-ink-soft tabular-nums">{created(entry)}</span>,
    },
    { name: "Bucket", isSecondary: true, cell: (entry) => <span className="text-ink-soft">{nameBucket(entry)}</span> },
    {
      name: "Amount",
      align: "right",
      cell: (entry) => (
        <>
          <span className={joinClasses(!entry.amount.startsWith("-") && "text-success")}>
            <MoneyCell figure={writeAmount(entry)} decimals={decimals.amount} />
          </span>
          <span className="block text-xs text-ink-soft sm:hidden">{writeBalance(entry)} left</span>
        </>
      ),
    },
    {
      name: "Balance",
      align: "right",
      isSecondary: true,
      cell: (entry) => <MoneyCell figure={writeBalance(entry)} decimals={decimals.balance} />,
    },
  ];
}

/** A charge links to its explanation. */
function EntryName({ entry: { kind, description, charge_id: chargeId } }: { entry: Entry }) {
  if (chargeId === null) return <span className="font-medium">{description}</span>;
  return (
    <Link
      to="/console/usage/charges/$id"
      params={{ id: chargeId }}
      className="font-medium hover:text-accent hover:underline"
    >
      {kind === "refund" ? `Refund: ${description}` : description}
    </Link>
  );
}

function nameBucket({ bucket: { kind } }: Entry): string {
  return { cash: "Cash", gift: "Gift", quota: "Quota" }[kind];
}
