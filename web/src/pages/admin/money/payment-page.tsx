import { useState } from "react";
import { ApiError, ask } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button } from "../../../design/button.tsx";
import { CopyableText } from "../../../design/copyable-text.tsx";
import { EmptyState } from "../../../design/empty-state.tsx";
import { FactList } from "../../../design/fact-list.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { formatMoney } from "../../../parts/format/format-money.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { AccountCell } from "../account-cell.tsx";
import { adminApi } from "../admin-api.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import { AuditTable } from "../audit/audit-table.tsx";
import type { Payment } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";
import { describeOrigin, PaymentStatus } from "./payments.tsx";
import { ReversalTable } from "./reversal-table.tsx";

const parents = [{ to: "/console/admin/money", name: "Money" }];

/** One payment with its refunds and disputes. */
export function PaymentPage() {
  const { id = "" } = useAdminPlace().params;
  const query = useTableQuery(adminQueries.adminMoney.payment(id));
  const { data: payment, error } = query;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <ConsoleFrame title="Payment not found" parents={parents}>
        <EmptyState title="There is no such payment." action={<AdminLink to="money">See all payments</AdminLink>}>
          The ID may be misspelled.
        </EmptyState>
      </ConsoleFrame>
    );
  }
  return (
    <ConsoleFrame
      title={payment === undefined ? "Payment" : `Payment of ${formatMoney(payment.amount, payment.currency)}`}
      parents={parents}
      actions={payment !== undefined && <Actions payment={payment} />}
    >
      {payment === undefined && error === null && <Skeleton className="h-96" />}
      {payment === undefined && error !== null && (
        <LoadFailure title="Could not load the payment." error={error} onRetry={() => void query.refetch()} />
      )}
      {payment !== undefined && <LoadedPayment payment={payment} />}
    </ConsoleFrame>
  );
}

function LoadedPayment({ payment }: { payment: Payment }) {
  const { time_zone: timeZone } = useSession().account;
  const { currency, note, provider_payment_id: providerId } = payment;
  return (
    <>
      <div className="-mt-4 flex flex-wrap items-center gap-x-4 gap-y-1">
        <PaymentStatus state={payment.state} />
        <CopyableText text={payment.id} label="payment ID" />
      </div>
      <FactList
        facts={[
          { name: "Account", value: <AccountCell id={payment.account_id} email={payment.email} /> },
          { name: "Origin", value: describeOrigin(payment.origin) },
          { name: "Amount", value: formatMoney(payment.amount, currency) },
          { name: "Refunded", value: formatMoney(payment.refunded, currency) },
          { name: "Created", value: formatMoment(payment.created_at, timeZone) },
          ...(payment.ended_at === null ? [] : [{ name: "Ended", value: formatMoment(payment.ended_at, timeZone) }]),
          ...(providerId === null
            ? []
            : [{ name: "Provider's ID", value: <CopyableText text={providerId} label="provider's ID" /> }]),
          ...(note === null ? [] : [{ name: "Note", value: note }]),
        ]}
      />
      <Section title="Refunds and disputes">
        <ReversalTable
          rows={payment.reversals}
          currency={currency}
          empty={<p className="text-sm text-ink-soft">The payment was neither refunded nor disputed.</p>}
        />
      </Section>
      <Section title="History">
        <AuditTable filter={{ subject: payment.id }} />
      </Section>
    </>
  );
}

function Actions({ payment }: { payment: Payment }) {
  const [dialog, setDialog] = useState<"refund" | "waive" | null>(null);
  const refresh = useAdminRefresh();
  const [amount, setAmount] = useState("");
  const isOwed = payment.reversals.some(({ owed }) => /[1-9]/.test(owed));
  const path = { payment_id: payment.id };
  const close = () => setDialog(null);
  const done = () => void refresh("adminMoney", "adminAccounts", "adminToday");
  return (
    <>
      {isOwed && <Button onClick={() => setDialog("waive")}>Waive debt</Button>}
      {payment.can_refund && <Button onClick={() => setDialog("refund")}>Refund</Button>}
      {dialog === "refund" && (
        <ReasonDialog
          title="Refund this payment?"
          submitName="Refund"
          look="danger"
          fields={["amount"]}
          send={(words) =>
            ask(
              adminApi.POST("/payments/{payment_id}/refund", {
                params: { path },
                body: { ...words, ...(amount.trim() === "" ? {} : { amount: amount.trim() }) },
              }),
            )
          }
          done="Payment refunded."
          onDone={done}
          onClose={close}
        >
          {(errorAt) => (
            <TextField
              label={`Amount (${payment.currency})`}
              name="amount"
              inputMode="decimal"
              placeholder="All that is left"
              hint="It goes to the card. The credit is taken back. If part of it was spent, the account is frozen until that is paid."
              value={amount}
              onChange={setAmount}
              error={errorAt("amount")}
            />
          )}
        </ReasonDialog>
      )}
      {dialog === "waive" && (
        <ReasonDialog
          title="Waive what is owed for this payment?"
          submitName="Waive"
          look="danger"
          send={({ reason }) =>
            ask(adminApi.POST("/payments/{payment_id}/waive", { params: { path }, body: { reason } }))
          }
          done="Debt waived."
          onDone={done}
          onClose={close}
        />
      )}
    </>
  );
}
