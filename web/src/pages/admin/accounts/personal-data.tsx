import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { Button } from "../../../design/button.tsx";
import { Section } from "../../../design/section.tsx";
import { adminApi } from "../admin-api.ts";
import { useAdminRefresh } from "../admin-query-table.ts";
import type { AdminAccount } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

/** A person's rights to a copy of their data, and to its erasure. */
export function PersonalData({ account }: { account: AdminAccount }) {
  const [open, setOpen] = useState<"export" | "erase" | null>(null);
  const isClosed = account.closed_at !== null;
  const hasPerson = account.members.length > 0;
  return (
    <Section title="Personal data">
      <div className="flex flex-wrap gap-3">
        <Button onClick={() => setOpen("export")}>Export data</Button>
        {isClosed && hasPerson && (
          <Button look="danger" onClick={() => setOpen("erase")}>
            Erase person
          </Button>
        )}
      </div>
      {hasPerson ? (
        !isClosed && <p className="text-sm text-ink-soft">To erase the person, close the account first.</p>
      ) : (
        <p className="text-sm text-ink-soft">The account has no person, or their data was erased.</p>
      )}
      {open === "export" && <ExportDialog account={account} onClose={() => setOpen(null)} />}
      {open === "erase" && <EraseDialog account={account} onClose={() => setOpen(null)} />}
    </Section>
  );
}

type DialogProps = { account: AdminAccount; onClose(): void };

function ExportDialog({ account: { id, email }, onClose }: DialogProps) {
  return (
    <ReasonDialog
      title={`Export the data of ${email}?`}
      submitName="Export"
      send={async ({ reason }) => saveArchive(id, await askArchive(id, reason))}
      done="Archive saved."
      onDone={() => {}}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        A compressed tar file of everything stored about the account, without secrets. Check its folder “for-review”
        before you hand it over: operators wrote it. The customer sees that their data was exported.
      </p>
    </ReasonDialog>
  );
}

async function askArchive(id: string, reason: string): Promise<Blob> {
  return await ask(
    adminApi.POST("/accounts/{account_id}/export", {
      params: { path: { account_id: id } },
      body: { reason },
      parseAs: "blob",
    }),
  );
}

function saveArchive(id: string, archive: Blob): void {
  const url = URL.createObjectURL(archive);
  const link = document.createElement("a");
  link.href = url;
  link.download = `${id}.tar.gz`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function EraseDialog({ account: { id, email }, onClose }: DialogProps) {
  const refresh = useAdminRefresh();
  return (
    <ReasonDialog
      title={`Erase ${email}?`}
      submitName="Erase"
      look="danger"
      send={({ reason }) =>
        ask(adminApi.POST("/accounts/{account_id}/erase", { params: { path: { account_id: id } }, body: { reason } }))
      }
      done="Person erased."
      onDone={() => void refresh("adminAccounts")}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        Removes name, addresses, sign-in methods, prompts, contents, tasks, requests and files for good. Charges,
        invoices and the audit log stay, the log without the person. Do not name the person in the reason.
      </p>
    </ReasonDialog>
  );
}
