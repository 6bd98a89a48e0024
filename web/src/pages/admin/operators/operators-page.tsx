import { useState } from "react";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { formatDate, formatSince } from "../../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { useAdminPlace } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import { AdminTabs } from "../admin-tabs.tsx";
import type { ListedOperator } from "../fetch-admin.ts";
import { AdminKeys } from "./admin-keys.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { GrantDialog, RevokeDialog, roleNames } from "./operator-dialogs.tsx";

const tabs = [
  { id: "operators", label: "Operators" },
  { id: "keys", label: "Admin keys" },
] as const;

/** Who may use the operator side: people with a role, and programs with a key. */
export function OperatorsPage() {
  const { search } = useAdminPlace();
  const isOfKeys = search.view === "keys";
  const [isAdding, setAdding] = useState(false);
  const mayChange = useSession().operator?.role === "operator";
  return (
    <ConsoleFrame
      title="Operators"
      intro="Who can see and change every account: people with a role, and programs with a key."
      actions={
        mayChange && (
          <Button look="primary" onClick={() => setAdding(true)}>
            {isOfKeys ? "Create admin key" : "Add operator"}
          </Button>
        )
      }
    >
      <AdminTabs label="Kinds of access" tabs={tabs}>
        {(chosen) => (chosen === "keys" ? <AdminKeys mayChange={mayChange} /> : <Operators mayChange={mayChange} />)}
      </AdminTabs>
      {isAdding && isOfKeys && <CreateKeyDialog onClose={() => setAdding(false)} />}
      {isAdding && !isOfKeys && <GrantDialog operator={null} onClose={() => setAdding(false)} />}
    </ConsoleFrame>
  );
}

type Change = { kind: "role" | "revoke"; operator: ListedOperator };

function Operators({ mayChange }: { mayChange: boolean }) {
  const { user, account } = useSession();
  const { data, error, refetch } = useTableQuery(adminQueries.adminOperators.list());
  const [change, setChange] = useState<Change | null>(null);
  const onClose = () => setChange(null);
  return (
    <>
      <DataTable
        label="List of operators"
        columns={[...listColumns(user.id, account.time_zone), ...(mayChange ? [listActions(setChange)] : [])]}
        rows={data?.data}
        error={error}
        onRetry={() => void refetch()}
        keyOf={({ id }) => id}
        expectedRows={2}
        empty={
          <EmptyState title="No operators yet.">The command `sluicectl operator grant` adds the first one.</EmptyState>
        }
      />
      {change?.kind === "role" && <GrantDialog operator={change.operator} onClose={onClose} />}
      {change?.kind === "revoke" && <RevokeDialog operator={change.operator} onClose={onClose} />}
    </>
  );
}

function listColumns(ownId: string, timeZone: string): Column<ListedOperator>[] {
  return [
    {
      name: "Operator",
      hasNames: true,
      cell: ({ id, email, name }) => (
        <div className="flex min-w-28 flex-col gap-0.5">
          <span className="font-medium">
            {name ?? email}
            {id === ownId && <span className="font-normal text-ink-soft"> (you)</span>}
          </span>
          {name !== null && <span className="text-xs text-ink-soft">{email}</span>}
        </div>
      ),
    },
    {
      name: "Role",
      cell: ({ role, has_second_factor: hasSecondFactor }) => (
        <span className="flex flex-col items-start gap-1">
          <Badge kind={role === "operator" ? "good" : "neutral"}>{roleNames[role]}</Badge>
          {!hasSecondFactor && <span className="text-xs text-warning">No two-step sign-in</span>}
        </span>
      ),
    },
    {
      name: "Since",
      isSecondary: true,
      hasNames: true,
      cell: ({ granted_at: at, granted_by: by }) => (
        <div className="flex min-w-28 flex-col gap-0.5">
          <span>{formatDate(at, timeZone)}</span>
          <span className="text-xs text-ink-soft">by {by}</span>
        </div>
      ),
    },
    {
      name: "Last seen",
      isSecondary: true,
      cell: ({ last_seen_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">
          {at === null ? "Not signed in" : formatSince(at, new Date())}
        </span>
      ),
    },
  ];
}

function listActions(onChange: (change: Change) => void): Column<ListedOperator> {
  return {
    name: "Actions",
    isNameHidden: true,
    align: "right",
    cell: (operator) => (
      <span className="-my-2 inline-flex flex-wrap justify-end">
        <Button
          look="quiet"
          aria-label={`Change the role of ${operator.email}`}
          onClick={() => onChange({ kind: "role", operator })}
        >
          Change
        </Button>
        <Button
          look="quiet"
          aria-label={`Revoke ${operator.email}`}
          onClick={() => onChange({ kind: "revoke", operator })}
        >
          Revoke
        </Button>
      </span>
    ),
  };
}
