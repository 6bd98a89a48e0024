import { Link } from "@tanstack/react-router";
import type { Charge } from "../../api/fetch-spending.ts";
import type { Column } from "../../design/data-table.tsx";
import { countDecimals } from "../format/align-figures.ts";
import { formatAmount } from "../format/format-amount.ts";
import { formatRoughMoney } from "../format/format-money.ts";
import { formatMoment } from "../format/format-time.ts";
import { nameCapability } from "../format/model-labels.ts";
import { MoneyCell } from "../format/money-cell.tsx";

type ChargeColumnsProps = {
  timeZone: string;
  currency: string | undefined;
  keyNames: ReadonlyMap<string, string> | undefined;
  /** Their decimal points are aligned. */
  rows: readonly Charge[] | undefined;
};

/** Columns of a charges table. Each charge links to its explanation. */
export function listChargeColumns({ timeZone, currency, keyNames, rows = [] }: ChargeColumnsProps): Column<Charge>[] {
  const decimals = currency === undefined ? 0 : countDecimals(rows.map((charge) => writeRoughCharge(charge, currency)));
  const created = (charge: Charge): string => formatMoment(new Date(charge.created * 1000).toISOString(), timeZone);
  return [
    {
      name: "Charge",
      hasNames: true,
      cell: (charge) => (
        <div className="flex min-w-36 flex-col gap-0.5">
          <Link
            to="/console/usage/charges/$id"
            params={{ id: charge.id }}
            className="font-medium hover:text-accent hover:underline"
          >
            {charge.model ?? "Charge"}
            {charge.capability !== null && (
              <span className="font-normal text-ink-soft"> {nameCapability(charge.capability)}</span>
            )}
          </Link>
          <span className="text-xs text-ink-soft">{charge.summary}</span>
          <span className="text-xs text-ink-soft sm:hidden">{created(charge)}</span>
        </div>
      ),
    },
    {
      name: "Key",
      hasNames: true,
      isSecondary: true,
      cell: ({ key_id: id }) => (
        <span className="inline-block min-w-24 text-ink-soft">{id === null ? "–" : (keyNames?.get(id) ?? id)}</span>
      ),
    },
    {
      name: "When",
      isSecondary: true,
      cell: (charge) => <span className="whitespace-nowrap text-ink-soft tabular-nums">{created(charge)}</span>,
    },
    {
      name: "Amount",
      align: "right",
      cell: (charge) =>
        currency !== undefined && (
          <MoneyCell
            figure={writeRoughCharge(charge, currency)}
            exact={writeCharge(charge, currency)}
            decimals={decimals}
          />
        ),
    },
  ];
}

/** In its unit: money, or a quota of the plan. */
export function writeCharge({ unit, charge, quota_units: units }: Charge, currency: string): string {
  return formatAmount({ unit, amount: unit === "money" ? charge : String(units), currency });
}

function writeRoughCharge(charge: Charge, currency: string): string {
  return charge.unit === "money" ? formatRoughMoney(charge.charge, currency) : writeCharge(charge, currency);
}
