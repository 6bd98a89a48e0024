import { useState } from "react";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Button } from "../../../design/button.tsx";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { Section } from "../../../design/section.tsx";
import { formatAmount } from "../../../parts/format/format-amount.ts";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminQueries } from "../admin-query-table.ts";
import type { AccountCharge, AdminAccount } from "../fetch-admin.ts";
import { RefundDialog } from "../refund-dialog.tsx";

export function AccountCharges({ account }: { account: AdminAccount }) {
  const { time_zone: timeZone } = useSession().account;
  const [refunding, setRefunding] = useState<AccountCharge | null>(null);
  const { rows, more, ...charges } = usePageQuery(adminQueries.adminAccounts.charges(account.id));
  return (
    <Section title="Charges">
      <DataTable
        label="List of charges"
        columns={listColumns({ timeZone, currency: account.currency, onRefund: setRefunding })}
        rows={rows}
        {...charges}
        keyOf={({ id }) => id}
        expectedRows={3}
        empty={<p className="text-sm text-ink-soft">The account was not charged yet.</p>}
      />
      <LoadMore {...more} />
      {refunding !== null && (
        <RefundDialog
          charge={refunding}
          accountId={account.id}
          currency={account.currency}
          onClose={() => setRefunding(null)}
        />
      )}
    </Section>
  );
}

type ColumnParts = { timeZone: string; currency: string; onRefund(charge: AccountCharge): void };

function listColumns({ timeZone, currency, onRefund }: ColumnParts): Column<AccountCharge>[] {
  return [
    {
      name: "Time",
      cell: ({ created_at: createdAt }) => <span className="text-ink-soft">{formatMoment(createdAt, timeZone)}</span>,
    },
    { name: "Model", hasNames: true, isSecondary: true, cell: ({ model }) => model ?? "–" },
    {
      name: "Charged",
      align: "right",
      cell: ({ unit, amount, refunded }) => (
        <>
          {formatAmount({ unit, amount, currency })}
          {hasAmount(refunded) && (
            <span className="block text-xs text-ink-soft">
              {formatAmount({ unit, amount: refunded, currency })} refunded
            </span>
          )}
        </>
      ),
    },
    {
      name: "Actions",
      isNameHidden: true,
      align: "right",
      cell: (charge) =>
        hasAmount(charge.amount) &&
        charge.refunded !== charge.amount && (
          <Button
            look="quiet"
            aria-label={`Refund the charge of ${formatMoment(charge.created_at, timeZone)}`}
            onClick={() => onRefund(charge)}
          >
            Refund
          </Button>
        ),
    },
  ];
}

function hasAmount(amount: string): boolean {
  return /[1-9]/.test(amount);
}
