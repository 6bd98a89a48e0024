import { queryTable } from "../../../api/query-table.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { LongName } from "../../../design/long-name.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { formatMoney, formatRoughMoney } from "../../../parts/format/format-money.ts";
import { formatDate } from "../../../parts/format/format-time.ts";
import { MoneyCell } from "../../../parts/format/money-cell.tsx";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AdminLink, type AdminSearch, useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { AccountFilter, ListedAccount } from "../fetch-admin.ts";
import { SearchField } from "../search-field.tsx";
import { AccountStatus, accountStatusNames } from "./account-status.tsx";

/** All accounts, newest first. */
export function AccountsPage() {
  const { search, change } = useAdminPlace();
  const { time_zone: timeZone } = useSession().account;
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { rows, more, ...accounts } = usePageQuery(adminQueries.adminAccounts.list(readFilter(search)));
  const isFiltered = Object.keys(readFilter(search)).length > 0;
  return (
    <ConsoleFrame title="Accounts" intro="Every customer's account, newest first.">
      <div className="flex flex-col gap-4">
        <Filters search={search} onChange={change} />
        <DataTable
          label="Accounts"
          columns={listColumns(timeZone, site?.currency)}
          rows={rows}
          {...accounts}
          keyOf={({ id }) => id}
          expectedRows={10}
          empty={
            <EmptyState
              title={isFiltered ? "No accounts match." : "No accounts yet."}
              action={
                isFiltered && <Button onClick={() => change({ q: "", plan: "", status: "" })}>Show all accounts</Button>
              }
            >
              {isFiltered
                ? "Search for a part of the e-mail address or for an account ID."
                : "An account appears here after a sign-up."}
            </EmptyState>
          }
        />
        <LoadMore {...more} />
      </div>
    </ConsoleFrame>
  );
}

function readFilter({ q, plan, status }: AdminSearch): AccountFilter {
  const known = accountStatusNames.find(({ value }) => value === status)?.value as AccountFilter["status"];
  return {
    ...(q === undefined ? {} : { q }),
    ...(plan === undefined ? {} : { plan }),
    ...(known === undefined ? {} : { status: known }),
  };
}

type FiltersProps = { search: AdminSearch; onChange(part: AdminSearch): void };

function Filters({ search, onChange }: FiltersProps) {
  const { data: plans } = useTableQuery(adminQueries.adminPlans.list());
  return (
    <search className="flex flex-wrap gap-3">
      <SearchField label="Search by e-mail or account ID" value={search.q ?? ""} onChange={(q) => onChange({ q })} />
      <SelectField
        isCompact
        label="Status"
        options={[{ value: "", label: "All statuses" }, ...accountStatusNames]}
        value={search.status ?? ""}
        onChange={(status) => onChange({ status })}
      />
      <SelectField
        isCompact
        label="Plan"
        options={[
          { value: "", label: "All plans" },
          { value: "none", label: "No plan" },
          ...(plans?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={search.plan ?? ""}
        onChange={(plan) => onChange({ plan })}
      />
    </search>
  );
}

function listColumns(timeZone: string, currency: string | undefined): Column<ListedAccount>[] {
  return [
    {
      name: "Account",
      hasNames: true,
      cell: ({ id, email }) => (
        <div className="flex min-w-32 flex-col items-start gap-0.5">
          <AdminLink to={`accounts/${id}`} className={linkClasses}>
            <LongName>{email}</LongName>
          </AdminLink>
          <code className="font-mono text-xs text-ink-soft max-sm:hidden">{id}</code>
        </div>
      ),
    },
    { name: "Status", cell: ({ status }) => <AccountStatus status={status} /> },
    {
      name: "Plan",
      isSecondary: true,
      hasNames: true,
      cell: ({ plan }) => plan ?? <span className="text-ink-soft">None</span>,
    },
    {
      name: "Available",
      align: "right",
      cell: ({ available_balance: amount }) =>
        currency === undefined ? (
          ""
        ) : (
          <MoneyCell figure={formatRoughMoney(amount, currency)} exact={formatMoney(amount, currency)} />
        ),
    },
    {
      name: "Created",
      isSecondary: true,
      cell: ({ created_at: createdAt }) => (
        <span className="whitespace-nowrap text-ink-soft">{formatDate(createdAt, timeZone)}</span>
      ),
    },
  ];
}
