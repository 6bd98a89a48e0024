import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { FactList } from "../../../design/fact-list.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { formatBytes } from "../../../parts/format/format-bytes.ts";
import { formatCount } from "../../../parts/format/format-money.ts";
import { AccountCell } from "../account-cell.tsx";
import { adminApi } from "../admin-api.ts";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import type { AccountStorage } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

/** Files by account, how long they are kept, and the deletion of expired ones. */
export function Storage() {
  const [isPurging, setPurging] = useState(false);
  const refresh = useAdminRefresh();
  const { data: total } = useTableQuery(adminQueries.adminWork.storageTotal());
  const { rows, more, ...accounts } = usePageQuery(adminQueries.adminWork.storage());
  const writeDays = (days: number): string => (days === 0 ? "Forever" : `${formatCount(days)} days`);
  return (
    <>
      {total !== undefined && (
        <FactList
          facts={[
            { name: "Uploads", value: `${formatCount(total.uploads.files)}, ${formatBytes(total.uploads.bytes)}` },
            { name: "Files are kept", value: writeDays(total.retention.file_days) },
            { name: "Tasks are kept", value: writeDays(total.retention.task_days) },
            { name: "Requests are kept", value: writeDays(total.retention.request_days) },
            { name: "Expired files waiting for deletion", value: formatCount(total.expired_files) },
          ]}
        />
      )}
      <div>
        <Button onClick={() => setPurging(true)}>Delete expired files</Button>
      </div>
      <DataTable
        label="Storage by account"
        columns={columns}
        rows={rows}
        {...accounts}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No files yet.">Accounts with uploads appear here.</EmptyState>}
      />
      <LoadMore {...more} />
      {isPurging && (
        <ReasonDialog
          title="Delete expired files now?"
          submitName="Delete"
          send={({ reason }) => ask(adminApi.POST("/storage/purge", { body: { reason } }))}
          done="Expired files deleted."
          onDone={() => void refresh("adminWork")}
          onClose={() => setPurging(false)}
        >
          <p className="text-sm text-ink-soft">A job does so every minute. Files that have not expired stay.</p>
        </ReasonDialog>
      )}
    </>
  );
}

const columns: Column<AccountStorage>[] = [
  { name: "Account", hasNames: true, cell: ({ id, email }) => <AccountCell id={id} email={email} /> },
  {
    name: "Uploads",
    align: "right",
    cell: ({ uploads }) => (
      <>
        {formatBytes(uploads.bytes)}
        <span className="block text-xs text-ink-soft">{formatCount(uploads.files)} files</span>
      </>
    ),
  },
  {
    name: "Outputs",
    align: "right",
    cell: ({ outputs }) => (
      <>
        {formatBytes(outputs.bytes)}
        <span className="block text-xs text-ink-soft">{formatCount(outputs.files)} files</span>
      </>
    ),
  },
];
