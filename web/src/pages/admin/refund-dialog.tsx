import { useState } from "react";
import { ask } from "../../api/console-api.ts";
import { TextField } from "../../design/text-field.tsx";
import { formatAmount } from "../../parts/format/format-amount.ts";
import { adminApi } from "./admin-api.ts";
import { useAdminRefresh } from "./admin-query-table.ts";
import type { AccountCharge } from "./fetch-admin.ts";
import { ReasonDialog } from "./reason-dialog.tsx";

type RefundDialogProps = {
  charge: Pick<AccountCharge, "id" | "unit" | "amount" | "refunded">;
  accountId: string;
  currency: string;
  onClose(): void;
};

/** A refund of a charge, whole unless the operator lowers the amount. */
export function RefundDialog({ charge, accountId, currency, onClose }: RefundDialogProps) {
  const refresh = useAdminRefresh();
  const [amount, setAmount] = useState(/[1-9]/.test(charge.refunded) ? "" : charge.amount);
  return (
    <ReasonDialog
      title="Refund this charge?"
      submitName="Refund"
      fields={["amount"]}
      send={(words) =>
        ask(
          adminApi.POST("/accounts/{account_id}/refunds", {
            params: { path: { account_id: accountId } },
            body: { charge_id: charge.id, amount: amount.trim(), ...words },
          }),
        )
      }
      done="Charge refunded."
      onDone={() => void refresh("adminAccounts", "adminRequests")}
      onClose={onClose}
    >
      {(errorAt) => (
        <TextField
          label={charge.unit === "money" ? `Amount (${currency})` : "Amount"}
          name="amount"
          inputMode="decimal"
          hint={`At most ${formatAmount({ ...charge, currency })}. It returns to the credit that paid.`}
          value={amount}
          onChange={setAmount}
          error={errorAt("amount")}
        />
      )}
    </ReasonDialog>
  );
}
