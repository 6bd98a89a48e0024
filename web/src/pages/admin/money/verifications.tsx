import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { formatCount } from "../../../parts/format/format-money.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { adminApi } from "../admin-api.ts";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { Verification } from "../fetch-admin.ts";

const looks = {
  waiting: { kind: "neutral", name: "Waiting" },
  running: { kind: "busy", name: "Running" },
  passed: { kind: "good", name: "Passed" },
  failed: { kind: "bad", name: "Failed" },
} as const;

const refreshMs = 2000;

/** Verifications of the ledger that operators asked for. */
export function Verifications() {
  const { time_zone: timeZone } = useSession().account;
  const refresh = useAdminRefresh();
  const isOpen = ({ state }: Verification) => state === "waiting" || state === "running";
  const { rows, more, ...checks } = usePageQuery(adminQueries.adminMoney.verifications(), {
    decideRefreshMs: (shown) => (shown.some(isOpen) ? refreshMs : null),
  });
  const start = useAction(
    (scope: "new" | "whole") => ask(adminApi.POST("/ledger-verifications", { body: { scope } })),
    () => void refresh("adminMoney"),
  );
  const isBusy = start.isBusy || rows?.some(isOpen) === true;
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <Button look="primary" isBusy={isBusy} onClick={() => start.run("new")}>
          Verify new entries
        </Button>
        <Button isBusy={isBusy} onClick={() => start.run("whole")}>
          Verify everything
        </Button>
      </div>
      <FormError message={start.errorBeside()} />
      <p className="text-sm text-ink-soft">
        Gateways verify new entries every minute and everything every night. An account with a violation is frozen.
      </p>
      <DataTable
        label="Verifications"
        columns={listColumns(timeZone)}
        rows={rows}
        {...checks}
        keyOf={({ id }) => id}
        expectedRows={3}
        empty={<EmptyState title="No verifications yet.">Start one to see its result here.</EmptyState>}
      />
      <LoadMore {...more} />
    </>
  );
}

function listColumns(timeZone: string): Column<Verification>[] {
  return [
    {
      name: "Started",
      cell: ({ asked_at: askedAt, asked_by: askedBy }) => (
        <>
          {formatMoment(askedAt, timeZone)}
          <span className="block text-xs text-ink-soft wrap-anywhere">{askedBy}</span>
        </>
      ),
    },
    { name: "Scope", isSecondary: true, cell: ({ scope }) => (scope === "new" ? "New entries" : "Everything") },
    { name: "Result", cell: ({ state }) => <Badge kind={looks[state].kind}>{looks[state].name}</Badge> },
    {
      name: "Found",
      hasNames: true,
      cell: ({ state, accounts, entries, violations, violation_count: count }) =>
        state === "failed" ? (
          <ul className="flex flex-col gap-1 text-xs">
            {violations.map(({ invariant, account_id: id, message }) => (
              <li key={`${invariant} ${id} ${message}`}>
                {invariant}: {message} <AccountCell id={id} email={null} />
              </li>
            ))}
            {count > violations.length && <li>{`and ${formatCount(count - violations.length)} more`}</li>}
          </ul>
        ) : (
          state === "passed" && `${formatCount(entries ?? 0)} entries of ${formatCount(accounts ?? 0)} accounts`
        ),
    },
  ];
}
