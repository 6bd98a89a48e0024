import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { formatMoney } from "../../../parts/format/format-money.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { linkClasses } from "../../../parts/frame/focus-page.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { adminApi } from "../admin-api.ts";
import { AdminLink } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { FrozenAccount } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";
import { useCurrency } from "../use-currency.ts";

/** Accounts that cannot spend, and why. */
export function FrozenAccounts() {
  const { time_zone: timeZone } = useSession().account;
  const currency = useCurrency() ?? "USD";
  const [chosen, setChosen] = useState<FrozenAccount | null>(null);
  const refresh = useAdminRefresh();
  const { rows, more, ...accounts } = usePageQuery(adminQueries.adminMoney.frozen());
  const columns: Column<FrozenAccount>[] = [
    { name: "Account", hasNames: true, cell: ({ id, email }) => <AccountCell id={id} email={email} /> },
    {
      name: "Why",
      hasNames: true,
      cell: ({ kind, reason }) => (
        <span className="flex flex-col items-start gap-1">
          <Badge kind={kind === "debt" ? "warning" : "bad"}>{kind === "debt" ? "Debt" : "Invariant"}</Badge>
          <span className="text-xs">{reason}</span>
        </span>
      ),
    },
    { name: "Owed", align: "right", cell: ({ kind, owed }) => (kind === "debt" ? formatMoney(owed, currency) : "–") },
    { name: "Since", isSecondary: true, cell: ({ since }) => formatMoment(since, timeZone) },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (row) =>
        row.payment_id === null ? (
          <Button look="quiet" aria-label={`Unfreeze ${row.email}`} onClick={() => setChosen(row)}>
            Unfreeze
          </Button>
        ) : (
          <AdminLink to={`payments/${row.payment_id}`} className={linkClasses}>
            Payment
          </AdminLink>
        ),
    },
  ];
  return (
    <>
      <DataTable
        label="Frozen accounts"
        columns={columns}
        rows={rows}
        {...accounts}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No account is frozen.">Every account can spend what it has.</EmptyState>}
      />
      <LoadMore {...more} />
      {chosen !== null && (
        <ReasonDialog
          title={`Unfreeze ${chosen.email}?`}
          submitName="Unfreeze"
          fields={["account_id"]}
          send={({ reason }) =>
            ask(
              adminApi.POST("/accounts/{account_id}/unfreeze", {
                params: { path: { account_id: chosen.id } },
                body: { reason },
              }),
            )
          }
          done="Account unfrozen."
          onDone={() => void refresh("adminMoney", "adminAccounts")}
          onClose={() => setChosen(null)}
        >
          {(errorAt) => (
            <p className="text-sm text-ink-soft">
              {errorAt("account_id") ?? "All invariants of the account are checked first."}
            </p>
          )}
        </ReasonDialog>
      )}
    </>
  );
}
