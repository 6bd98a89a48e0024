import type { ReactNode } from "react";
import { type Column, DataTable } from "../../../design/data-table.tsx";
import { formatMoney } from "../../../parts/format/format-money.ts";
import type { Reversal } from "../fetch-admin.ts";

type ReversalTableProps<Row extends Reversal> = {
  rows: readonly Row[] | undefined;
  currency: string;
  empty: ReactNode;
  /** Shown first. */
  columns?: readonly Column<Row>[];
  error?: Error | null;
  onRetry?(): void;
};

/** Refunds and disputes, and what the ledger took back for each. */
export function ReversalTable<Row extends Reversal>(props: ReversalTableProps<Row>) {
  const { currency, columns = [], ...table } = props;
  return (
    <DataTable label="Reversals" columns={[...columns, ...listColumns(currency)]} keyOf={({ id }) => id} {...table} />
  );
}

function listColumns(currency: string): Column<Reversal>[] {
  return [
    {
      name: "Kind",
      cell: ({ kind, status }) => (
        <>
          {kind === "refund" ? "Refund" : "Dispute"}
          <span className="block text-xs text-ink-soft">{status}</span>
        </>
      ),
    },
    { name: "Reason", isSecondary: true, hasNames: true, cell: ({ reason }) => reason ?? "–" },
    { name: "Amount", align: "right", cell: ({ amount }) => formatMoney(amount, currency) },
    {
      name: "Taken back",
      align: "right",
      isSecondary: true,
      cell: ({ clawed_back: taken }) => formatMoney(taken, currency),
    },
    { name: "Owed", align: "right", cell: ({ owed }) => formatMoney(owed, currency) },
  ];
}
