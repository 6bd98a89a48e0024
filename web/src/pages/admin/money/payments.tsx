import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge, type BadgeKind } from "../../../design/badge.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoney } from "../../../parts/format/format-money.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { ListedPayment, PaymentFilter } from "../fetch-admin.ts";
import { readPeriod } from "../moment-filter.ts";
import { PeriodNote } from "../period-note.tsx";

const looks: Readonly<Record<ListedPayment["state"], { kind: BadgeKind; name: string }>> = {
  open: { kind: "busy", name: "Open" },
  paid: { kind: "good", name: "Paid" },
  expired: { kind: "neutral", name: "Expired" },
  failed: { kind: "bad", name: "Failed" },
  mismatched: { kind: "warning", name: "Mismatched" },
};

const originNames: Readonly<Record<ListedPayment["origin"], string>> = {
  page: "Checkout",
  automatic: "Automatic top-up",
  external: "Other provider",
};

const options = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

/** Payments of all accounts. */
export function Payments() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const filter: PaymentFilter = {
    ...readPeriod(search),
    ...(isName(looks, search.state) ? { state: search.state } : {}),
    ...(isName(originNames, search.origin) ? { origin: search.origin } : {}),
    ...(search.account === undefined ? {} : { account_id: search.account }),
  };
  const { rows, more, ...payments } = usePageQuery(adminQueries.adminMoney.payments(filter));
  return (
    <>
      <search className="flex flex-wrap gap-3">
        <SelectField
          isCompact
          label="Status"
          options={[
            { value: "", label: "All statuses" },
            ...Object.entries(looks).map(([value, { name }]) => ({ value, label: name })),
          ]}
          value={search.state ?? ""}
          onChange={(state) => change({ state })}
        />
        <SelectField
          isCompact
          label="Origin"
          options={[{ value: "", label: "All origins" }, ...options(originNames)]}
          value={search.origin ?? ""}
          onChange={(origin) => change({ origin })}
        />
      </search>
      <PeriodNote />
      <DataTable
        label="Payments"
        columns={listColumns(timeZone)}
        rows={rows}
        {...payments}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No payments.">A payment appears here when a customer starts a checkout.</EmptyState>}
      />
      <LoadMore {...more} />
    </>
  );
}

function isName<Name extends string>(names: Readonly<Record<Name, unknown>>, word: string | undefined): word is Name {
  return word !== undefined && Object.hasOwn(names, word);
}

export function PaymentStatus({ state }: { state: ListedPayment["state"] }) {
  return <Badge kind={looks[state].kind}>{looks[state].name}</Badge>;
}

export function describeOrigin(origin: ListedPayment["origin"]): string {
  return originNames[origin];
}

function listColumns(timeZone: string): Column<ListedPayment>[] {
  return [
    {
      name: "Time",
      cell: ({ id, created_at: createdAt }) => (
        <AdminLink to={`payments/${id}`} className={linkClasses}>
          {formatMoment(createdAt, timeZone)}
        </AdminLink>
      ),
    },
    { name: "Account", hasNames: true, cell: (row) => <AccountCell id={row.account_id} email={row.email} /> },
    { name: "Origin", isSecondary: true, cell: ({ origin }) => originNames[origin] },
    {
      name: "Status",
      cell: ({ state, disputed_at: disputedAt }) => (
        <span className="flex flex-wrap gap-1">
          <PaymentStatus state={state} />
          {disputedAt !== null && <Badge kind="bad">Disputed</Badge>}
        </span>
      ),
    },
    {
      name: "Amount",
      align: "right",
      cell: ({ amount, refunded, currency }) => (
        <>
          {formatMoney(amount, currency)}
          {/[1-9]/.test(refunded) && (
            <span className="block text-xs text-ink-soft">{formatMoney(refunded, currency)} refunded</span>
          )}
        </>
      ),
    },
  ];
}
