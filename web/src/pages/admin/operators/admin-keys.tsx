import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { formatDate, formatSince } from "../../../parts/format/format-time.ts";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import { ConfirmDialog } from "../confirm-dialog.tsx";
import type { AdminKey } from "../fetch-admin.ts";
import { scopeNames } from "./scope-names.ts";

/** The keys of programs, newest first. */
export function AdminKeys({ mayChange }: { mayChange: boolean }) {
  const { time_zone: timeZone } = useSession().account;
  const { rows, more, ...list } = usePageQuery(adminQueries.adminKeys.list());
  const [revoking, setRevoking] = useState<AdminKey | null>(null);
  const refresh = useAdminRefresh();
  return (
    <>
      <DataTable
        label="List of admin keys"
        columns={[...listColumns(timeZone), ...(mayChange ? [listActions(setRevoking)] : [])]}
        rows={rows}
        {...list}
        keyOf={({ id }) => id}
        expectedRows={2}
        empty={
          <EmptyState title="No admin keys yet.">
            A program calls the admin API with a key: exports, alerts, your own tools.
          </EmptyState>
        }
      />
      <LoadMore {...more} />
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke ${revoking.name}?`}
          submitName="Revoke"
          look="danger"
          send={() =>
            ask(adminApi.POST("/keys/{key_id}/revoke", { params: { path: { key_id: revoking.id } }, body: {} }))
          }
          done="Key revoked."
          onDone={() => void refresh("adminKeys")}
          onClose={() => setRevoking(null)}
        >
          <p className="text-sm text-ink-soft">Programs with this key fail from now on. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function listColumns(timeZone: string): Column<AdminKey>[] {
  return [
    {
      name: "Key",
      hasNames: true,
      cell: ({ name, preview }) => (
        <div className="flex min-w-28 flex-col items-start gap-0.5">
          <span className="font-medium">{name}</span>
          <code className="font-mono text-xs text-ink-soft">{preview}</code>
        </div>
      ),
    },
    {
      name: "Access",
      hasNames: true,
      cell: ({ access, scopes }) => (
        <div className="flex min-w-24 flex-col items-start gap-1">
          <Badge kind={access === "write" ? "warning" : "neutral"}>
            {access === "write" ? "Read and change" : "Read"}
          </Badge>
          <span className="text-xs text-ink-soft">{presentScopes(scopes)}</span>
        </div>
      ),
    },
    {
      name: "Created",
      isSecondary: true,
      hasNames: true,
      cell: ({ created_at: at, created_by: by }) => (
        <div className="flex min-w-28 flex-col gap-0.5">
          <span>{formatDate(at, timeZone)}</span>
          <span className="text-xs text-ink-soft">by {by}</span>
        </div>
      ),
    },
    {
      name: "Last used",
      isSecondary: true,
      cell: ({ last_used_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">{at === null ? "Never" : formatSince(at, new Date())}</span>
      ),
    },
    { name: "Status", cell: (key) => <KeyStatus adminKey={key} timeZone={timeZone} /> },
  ];
}

function listActions(onRevoke: (key: AdminKey) => void): Column<AdminKey> {
  return {
    name: "Actions",
    isNameHidden: true,
    align: "right",
    cell: (key) =>
      key.revoked_at === null && (
        <Button look="quiet" className="-my-2" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
          Revoke
        </Button>
      ),
  };
}

function presentScopes(scopes: AdminKey["scopes"]): string {
  if (scopes.length === Object.keys(scopeNames).length) return "All scopes";
  return scopes.map((scope) => scopeNames[scope]).join(", ");
}

function KeyStatus({ adminKey, timeZone }: { adminKey: AdminKey; timeZone: string }) {
  const { revoked_at: revokedAt, expires_at: expiresAt } = adminKey;
  if (revokedAt !== null) return <Badge>Revoked</Badge>;
  if (expiresAt === null) return <Badge kind="good">Active</Badge>;
  if (new Date(expiresAt) <= new Date()) return <Badge>Expired</Badge>;
  return (
    <span className="flex flex-col items-start gap-1">
      <Badge kind="good">Active</Badge>
      <span className="text-xs text-ink-soft">until {formatDate(expiresAt, timeZone)}</span>
    </span>
  );
}
