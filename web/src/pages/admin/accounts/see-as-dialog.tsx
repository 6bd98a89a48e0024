import { ask } from "../../../api/console-api.ts";
import { adminApi } from "../admin-api.ts";
import type { AdminAccount } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

type SeeAsDialogProps = { account: AdminAccount; onClose(): void };

/** Opens the customer's console, read-only. */
export function SeeAsDialog({ account: { id, email }, onClose }: SeeAsDialogProps) {
  return (
    <ReasonDialog
      title={`See the console of ${email}?`}
      submitName="See as customer"
      send={({ reason }) =>
        ask(adminApi.POST("/accounts/{account_id}/views", { params: { path: { account_id: id } }, body: { reason } }))
      }
      done="Opening the customer's console."
      // A full load, so that nothing of the operator's own account stays in the page.
      onDone={() => location.assign("/console")}
      onClose={onClose}
    >
      <p className="text-sm text-ink-soft">
        Read-only, for at most 30 minutes, without secrets and contents of requests or files. The customer sees in their
        settings that an operator looked, and when.
      </p>
    </ReasonDialog>
  );
}
