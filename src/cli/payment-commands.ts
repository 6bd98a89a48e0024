import { type Clawback, computeDebt, listClawbacks, waiveDebts } from "../features/ledger/index.ts";
import {
  type Checkout,
  checkoutStates,
  findCheckout,
  fromMinor,
  listCheckouts,
  listReversals,
  type Reversal,
} from "../features/payments/index.ts";
import { nano, presentMoney } from "../lib/money.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { createWrongValue } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const paymentsShownMax = 100;

const listCommand: Command = {
  name: "payment list",
  summary: `List the newest ${paymentsShownMax} card payments.`,
  options: {
    state: { placeholder: "word", description: `Only payments with this state: ${checkoutStates.join(", ")}.` },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const state = checkoutStates.find((word) => word === options.state);
      if (options.state !== undefined && state === undefined) {
        throw createWrongValue("state", `one of ${checkoutStates.join(", ")}`);
      }
      const filter = { ...(state === undefined ? {} : { state }), limit: paymentsShownMax };
      const checkouts = await listCheckouts(database, filter);
      const rows = checkouts.map((checkout) => [
        checkout.id,
        checkout.accountId,
        presentAmount(checkout),
        checkout.state,
        checkout.createdAt.toISOString(),
        describeRest(checkout),
      ]);
      return {
        json: checkouts.map(presentPaymentJson),
        text:
          rows.length === 0
            ? "No payments."
            : presentRows(["ID", "ACCOUNT", "AMOUNT", "STATE", "CREATED", "NOTE"], rows),
      };
    }),
};

const showCommand: Command = {
  name: "payment show",
  summary: "Show a card payment with its Stripe ids, errors and reversals.",
  positionals: ["checkout id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const checkout = await findCheckout(database, { id });
      if (checkout === null)
        throw new AppError("not_found", `There is no payment ${id}. List them: npm run -s sluice -- payment list`);
      const clawbacks = await listClawbacks(database, id);
      const reversals = (await listReversals(database, [id])).map((reversal) =>
        presentReversalJson(checkout, reversal, clawbacks.find((clawback) => clawback.id === reversal.id) ?? null),
      );
      const json = presentPaymentJson(checkout);
      const amounts = { amount: presentAmount(checkout), refunded: presentRefunded(checkout) };
      const rows = Object.entries({ ...json, ...amounts }).map(([name, value]) => [name, String(value ?? "-")]);
      const reversalRows = reversals.map((reversal) => Object.values(reversal).map((value) => String(value ?? "-")));
      const headings = ["REVERSAL", "KIND", "STATUS", "AMOUNT", "REASON", "OWED", "TAKEN", "WAIVED", "DEBT"];
      return {
        json: { ...json, reversals },
        text: [
          presentRows(["FIELD", "VALUE"], rows),
          ...(reversalRows.length === 0 ? [] : [presentRows(headings, reversalRows)]),
        ].join("\n\n"),
      };
    }),
};

const waiveCommand: Command = {
  name: "payment waive",
  summary: "Waive the debt of a refunded or disputed payment, so that its account can spend again.",
  positionals: ["checkout id"],
  options: {
    reason: { placeholder: "text", description: "The reason, stored with your user name.", isRequired: true },
  },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database, { currency }) => {
      const request = { causeId: id, actor: getActor(), reason: options.reason ?? "" };
      const waived = presentMoney(await waiveDebts({ ...systemDependencies, database }, request));
      return { json: { id, waived, currency }, text: `Waived ${waived} ${currency} for ${id}.` };
    }),
};

export const paymentCommands: readonly Command[] = [listCommand, showCommand, waiveCommand];

function presentAmount({ amount, currency }: Checkout): string {
  return `${presentMoney(amount)} ${currency}`;
}

function presentRefunded({ refundedMinor, currency }: Checkout): string | null {
  return refundedMinor === 0n ? null : `${presentMoney(fromMinor(refundedMinor, currency))} ${currency}`;
}

function describeRest(checkout: Checkout): string {
  const { note, disputedAt, origin } = checkout;
  const refunded = presentRefunded(checkout);
  const parts = [
    ...(origin === "page" ? [] : [origin]),
    ...(note === null ? [] : [note]),
    ...(refunded === null ? [] : [`${refunded} refunded`]),
    ...(disputedAt === null ? [] : [`disputed ${disputedAt.toISOString()}`]),
  ];
  return parts.join("; ");
}

function presentReversalJson(
  { currency }: Checkout,
  { id, kind, status, amountMinor, reason }: Reversal,
  clawback: Clawback | null,
): Record<string, unknown> {
  return {
    id,
    kind,
    status,
    amount: presentMoney(fromMinor(amountMinor, currency)),
    reason,
    owed: presentMoney(clawback?.owed ?? nano(0n)),
    taken: presentMoney(clawback?.taken ?? nano(0n)),
    waived: presentMoney(clawback?.waived ?? nano(0n)),
    debt: presentMoney(clawback === null ? nano(0n) : computeDebt(clawback)),
  };
}

function presentPaymentJson(checkout: Checkout): Record<string, unknown> {
  const { refundedMinor, currency } = checkout;
  return {
    id: checkout.id,
    account_id: checkout.accountId,
    amount: presentMoney(checkout.amount),
    currency,
    state: checkout.state,
    origin: checkout.origin,
    note: checkout.note,
    session_id: checkout.sessionId,
    payment_id: checkout.paymentId,
    created_at: checkout.createdAt.toISOString(),
    completed_at: checkout.completedAt?.toISOString() ?? null,
    ended_at: checkout.endedAt?.toISOString() ?? null,
    refunded: refundedMinor === 0n ? null : presentMoney(fromMinor(refundedMinor, currency)),
    disputed_at: checkout.disputedAt?.toISOString() ?? null,
  };
}
