import { type Checkout, checkoutStates, findCheckout, fromMinor, listCheckouts } from "../features/payments/index.ts";
import { presentMoney } from "../lib/money.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { createWrongValue } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { withDatabase } from "./with-database.ts";

const paymentsShownMax = 100;

const listCommand: Command = {
  name: "payment list",
  summary: `Lists the newest ${paymentsShownMax} payments by card.`,
  options: { state: { placeholder: "word", explains: `Only those that are ${checkoutStates.join(", ")}.` } },
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
            ? "There are no such payments."
            : presentRows(["ID", "ACCOUNT", "AMOUNT", "STATE", "BEGUN", "NOTE"], rows),
      };
    }),
};

const showCommand: Command = {
  name: "payment show",
  summary: "Shows a payment by card, with Stripe's names for it and what went wrong.",
  positionals: ["checkout id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const checkout = await findCheckout(database, { id });
      if (checkout === null) throw new AppError("not_found", `There is no payment ${id}.`);
      const json = presentPaymentJson(checkout);
      const amounts = { amount: presentAmount(checkout), refunded: presentRefunded(checkout) };
      const rows = Object.entries({ ...json, ...amounts }).map(([name, value]) => [name, String(value ?? "-")]);
      return { json, text: presentRows(["FIELD", "VALUE"], rows) };
    }),
};

export const paymentCommands: readonly Command[] = [listCommand, showCommand];

function presentAmount({ amount, currency }: Checkout): string {
  return `${presentMoney(amount)} ${currency}`;
}

function presentRefunded({ refundedMinor, currency }: Checkout): string | null {
  return refundedMinor === 0n ? null : `${presentMoney(fromMinor(refundedMinor, currency))} ${currency}`;
}

function describeRest(checkout: Checkout): string {
  const { note, disputedAt } = checkout;
  const refunded = presentRefunded(checkout);
  const parts = [
    ...(note === null ? [] : [note]),
    ...(refunded === null ? [] : [`${refunded} given back`]),
    ...(disputedAt === null ? [] : [`contested ${disputedAt.toISOString()}`]),
  ];
  return parts.join("; ");
}

function presentPaymentJson(checkout: Checkout): Record<string, unknown> {
  const { refundedMinor, currency } = checkout;
  return {
    id: checkout.id,
    account_id: checkout.accountId,
    amount: presentMoney(checkout.amount),
    currency,
    state: checkout.state,
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
