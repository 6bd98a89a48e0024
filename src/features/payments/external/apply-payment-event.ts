import { hash } from "node:crypto";
import type { AccountId, CheckoutId } from "../../../lib/ids.ts";
import { type Nano, parseMoney } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { findAccount } from "../../accounts/index.ts";
import { bookTopUp } from "../../ledger/index.ts";
import type { PaymentDependencies } from "../apply-reversal.ts";
import { stopTopUp } from "../cards/stop-top-up.ts";
import { type Checkout, nameTransaction } from "../checkout.ts";
import { insertCheckoutOnce, lockCheckout } from "../checkout-store.ts";
import { clawBackCheckout } from "../claw-back-checkout.ts";
import { documentCheckout } from "../document-checkout.ts";
import { listReversals, putReversal } from "../reversal-store.ts";
import { toMinor } from "../stripe-amount.ts";
import type { PaymentEvent } from "./payment-event.ts";

type Dependencies = Pick<PaymentDependencies, "database" | "clock" | "logger"> & { currency: string };

type Success = Extract<PaymentEvent, { type: "payment.succeeded" }>["data"];
type Refund = Extract<PaymentEvent, { type: "payment.refunded" }>["data"];

/** Books a payment or refund of another provider, once per provider's id, in one transaction. */
export async function applyPaymentEvent(dependencies: Dependencies, event: PaymentEvent): Promise<void> {
  switch (event.type) {
    case "payment.succeeded":
      return await applyPayment(dependencies, event.data);
    case "payment.refunded":
      return await applyRefund(dependencies, event.data);
  }
}

/** Derived from the provider's id: a repeated event finds the first one's row. */
function deriveCheckoutId(paymentId: string): CheckoutId {
  return `chk_${hash("sha256", `external\n${paymentId}`, "hex").slice(0, 32)}`;
}

async function applyPayment({ database, clock, logger, currency }: Dependencies, data: Success): Promise<void> {
  const { amount, amountMinor } = parseAmount(data, currency);
  const id = deriveCheckoutId(data.payment_id);
  const now = clock.now();
  const isNew = await database.transaction().execute(async (tx) => {
    const account = await findAccount(tx, data.account_id);
    if (account === null) throw new AppError("not_found", "There is no such account.", { param: "data.account_id" });
    const checkout = describeCheckout({ id, accountId: account.id, amount, amountMinor, currency, now }, data);
    if (!(await insertCheckoutOnce(tx, checkout))) return await requireSame(tx, checkout);
    const cause = { kind: "payment" as const, id };
    const booking = { id: nameTransaction(id), accountId: account.id, amount, channel: "external", cause };
    const result = await bookTopUp(tx, booking, now);
    if (result.kind !== "booked") {
      throw new AppError("invalid_parameter", `The ledger rejected the credit: ${result.kind}.`, {
        param: "data.amount",
      });
    }
    await documentCheckout(tx, checkout, now);
    return true;
  });
  if (isNew) logger.info({ checkout_id: id, account_id: data.account_id }, "payment credited");
}

/** A repeated event changes nothing; another payment under the same id is the provider's mistake. */
async function requireSame(tx: Database, wanted: Checkout): Promise<false> {
  const known = await lockCheckout(tx, wanted.id);
  if (known?.accountId === wanted.accountId && known.amount === wanted.amount) return false;
  throw new AppError("idempotency_key_reused", "This `payment_id` was booked with another account or amount.", {
    param: "data.payment_id",
  });
}

async function applyRefund({ database, clock, logger, currency }: Dependencies, data: Refund): Promise<void> {
  const { amountMinor } = parseAmount(data, currency);
  const id = deriveCheckoutId(data.payment_id);
  const now = clock.now();
  await database.transaction().execute(async (tx) => {
    const checkout = await lockCheckout(tx, id);
    // The provider repeats the event, by which time the payment's may have arrived.
    if (checkout === null) throw new AppError("not_found", "There is no such payment.", { param: "data.payment_id" });
    const reversalId = `external:${data.payment_id}:${data.refund_id}`;
    const known = (await listReversals(tx, [id])).find((reversal) => reversal.id === reversalId);
    if (known !== undefined && known.amountMinor !== amountMinor) {
      throw new AppError("idempotency_key_reused", "This `refund_id` was booked with another amount.", {
        param: "data.refund_id",
      });
    }
    if (known !== undefined) return;
    const reversal = { id: reversalId, kind: "refund", status: "succeeded", amountMinor, reason: null } as const;
    await putReversal(tx, id, { reversal, now });
    await clawBackCheckout(tx, checkout, now);
    await stopTopUp(tx, { checkout, reason: "reversed", now });
    await documentCheckout(tx, checkout, now);
  });
  logger.warn({ checkout_id: id, refund: data.refund_id }, "payment reversed");
}

function parseAmount(
  data: { amount: string; currency: string },
  currency: string,
): { amount: Nano; amountMinor: bigint } {
  if (data.currency !== currency) {
    throw new AppError("invalid_parameter", `\`data.currency\` must be ${currency}.`, { param: "data.currency" });
  }
  const amount = parseMoney(data.amount);
  const amountMinor = amount === null ? null : toMinor(amount, currency, "external");
  if (amount !== null && amountMinor !== null && amountMinor > 0n) return { amount, amountMinor };
  const message = `\`data.amount\` must be a positive amount in ${currency}, with no more decimal places than it has.`;
  throw new AppError("invalid_parameter", message, { param: "data.amount" });
}

type NewPayment = Pick<Checkout, "id" | "amount" | "amountMinor" | "currency"> & { accountId: AccountId; now: Date };

function describeCheckout({ now, ...payment }: NewPayment, { payment_id: paymentId }: Success): Checkout {
  return {
    ...payment,
    state: "paid",
    sessionId: null,
    sessionUrl: null,
    // Stripe's ids have no colon.
    paymentId: `external:${paymentId}`,
    note: null,
    createdAt: now,
    expiresAt: now,
    completedAt: null,
    endedAt: now,
    refundedMinor: 0n,
    disputedAt: null,
    origin: "external",
    cardSave: null,
    customerId: null,
    cardId: null,
  };
}
