import type { AccountId, IdSource } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import { presentMoney } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";
import { findAccount } from "../../accounts/index.ts";
import { findFreeze, listDebts, readBalance, sumMoney } from "../../ledger/index.ts";
import { insertNotice } from "../../notices/index.ts";
import type { PaymentDependencies } from "../apply-reversal.ts";
import { applySession } from "../apply-session.ts";
import type { Checkout } from "../checkout.ts";
import { insertCheckout, listSilentCheckouts, lockCheckout, updateAskedAt, updateCheckout } from "../checkout-store.ts";
import type { StripeSession } from "../stripe-event.ts";
import { decideTopUp, type TopUpFacts } from "./decide-top-up.ts";
import { findMonthStart } from "./find-month-start.ts";
import { stopTopUp } from "./stop-top-up.ts";
import type { SavedCard, TopUpRule } from "./top-up-rule.ts";
import { findSavedCard, listDueRules, lockRule, sumAutomaticCharges, updateNextAttempt } from "./top-up-store.ts";

export type TopUpDependencies = PaymentDependencies & {
  ids: IdSource;
  siteUrl: string;
  currency: string;
  /** Attempts per account in 24 hours. */
  attemptsMax: number;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Time for the balance to show the last charge, and for its owner to notice. */
const coolDownMs = 5 * minuteMs;
/** Stripe forgets idempotency keys after a day; a later retry could charge twice. */
const retryMsMax = 20 * hourMs;
const rulesAtOnce = 500;
const openChargesMax = 200;

/** Ends the open charges, then charges the cards of accounts with a low balance. One job of all gateways runs it. */
export async function runTopUps(dependencies: TopUpDependencies, signal: AbortSignal): Promise<void> {
  const { database, clock, logger } = dependencies;
  const open = {
    origin: "automatic",
    before: new Date(clock.now().getTime() - minuteMs),
    limit: openChargesMax,
  } as const;
  for (const checkout of await listSilentCheckouts(database, open)) {
    if (signal.aborted) return;
    await updateAskedAt(database, checkout.id, clock.now());
    await attempt(dependencies, checkout, "retry");
  }
  let after: AccountId | "" = "";
  for (;;) {
    const rules = await listDueRules(database, { after, now: clock.now(), limit: rulesAtOnce });
    const ids = rules.map(({ accountId }) => accountId);
    const money = await sumMoney(database, ids, clock.now());
    for (const { accountId, threshold } of rules) {
      if (signal.aborted) return;
      if ((money.get(accountId)?.available ?? 0n) >= threshold) continue;
      const checkout = await openCharge(dependencies, accountId);
      if (checkout !== null) await attempt(dependencies, checkout, "first");
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < rulesAtOnce) return;
    after = last;
  }

  /** One account's failure must not keep the others from their credit. */
  async function attempt(given: TopUpDependencies, checkout: Checkout, turn: "first" | "retry"): Promise<void> {
    try {
      await (turn === "first" ? chargeCheckout(given, checkout) : resolveCharge(given, checkout));
    } catch (error) {
      logger.error(
        { checkout_id: checkout.id, account_id: checkout.accountId, error },
        "charge of a saved card not confirmed",
      );
    }
  }
}

/** Stores the charge before Stripe is called. `null` if none is due. */
async function openCharge(dependencies: TopUpDependencies, accountId: AccountId): Promise<Checkout | null> {
  const { database, clock, ids, currency } = dependencies;
  return await database.transaction().execute(async (tx) => {
    const now = clock.now();
    const rule = await lockRule(tx, accountId);
    const card = await findSavedCard(tx, accountId);
    if (rule === null || card === null) return null;
    const step = decideTopUp(rule, await readFacts(tx, { accountId, now, attemptsMax: dependencies.attemptsMax }));
    switch (step.kind) {
      case "charge": {
        const checkout = describeCheckout({ rule, card, id: ids.next("chk"), currency, now });
        await insertCheckout(tx, checkout);
        await updateNextAttempt(tx, accountId, new Date(now.getTime() + coolDownMs));
        return checkout;
      }
      case "cap-reached": {
        const month = now.toISOString().slice(0, "2026-01".length);
        const facts = { cap: `${presentMoney(rule.monthMax)} ${currency}` };
        const id = `top_up_cap:${accountId}:${month}:${rule.monthMax}`;
        await insertNotice(tx, { id, accountId, kind: "top_up_cap_reached", facts }, now);
        return null;
      }
      case "nothing":
        return null;
    }
  });
}

async function readFacts(
  tx: Database,
  { accountId, now, attemptsMax }: { accountId: AccountId; now: Date; attemptsMax: number },
): Promise<TopUpFacts> {
  const { balance } = await readBalance(tx, accountId, now);
  const isSuspended = (await findAccount(tx, accountId))?.suspendedAt !== null;
  const isFrozen = (await findFreeze(tx, accountId)) !== null || (await listDebts(tx, accountId)).length > 0;
  const attemptsSince = new Date(now.getTime() - dayMs);
  const sums = await sumAutomaticCharges(tx, accountId, { attemptsSince, monthStart: findMonthStart(now) });
  return { now, available: balance.available, isBlocked: isSuspended || isFrozen, attemptsMax, ...sums };
}

type Charge = { rule: TopUpRule; card: SavedCard; id: Checkout["id"]; currency: string; now: Date };

function describeCheckout({ rule, card, id, currency, now }: Charge): Checkout {
  return {
    id,
    accountId: rule.accountId,
    amount: rule.amount,
    currency,
    amountMinor: rule.amountMinor,
    state: "open",
    sessionId: null,
    sessionUrl: null,
    paymentId: null,
    note: null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + dayMs),
    completedAt: null,
    endedAt: null,
    refundedMinor: 0n,
    disputedAt: null,
    origin: "automatic",
    cardSave: null,
    customerId: card.customerId,
    cardId: card.cardId,
  };
}

/** A retry looks for the first attempt's charge before it charges: Stripe also stores failed answers under the key. */
async function resolveCharge(dependencies: TopUpDependencies, checkout: Checkout): Promise<void> {
  const { stripe, clock } = dependencies;
  const { id: checkoutId, customerId, createdAt } = checkout;
  invariant(customerId !== null, `${checkoutId} has no customer`);
  const found = await stripe.findCharge({ checkoutId, customerId, since: createdAt });
  if (found !== null && found.outcome !== "open") return await applySession(dependencies, found);
  if (clock.now().getTime() - createdAt.getTime() < retryMsMax) return await chargeCheckout(dependencies, checkout);
  await giveUp(dependencies, checkout);
}

async function chargeCheckout(dependencies: TopUpDependencies, checkout: Checkout): Promise<void> {
  const { stripe, siteUrl } = dependencies;
  const { id: checkoutId, accountId, amountMinor, currency, customerId, cardId } = checkout;
  invariant(customerId !== null && cardId !== null, `${checkoutId} has no card`);
  const title = `Credit at ${new URL(siteUrl).host}`;
  const charge = { checkoutId, accountId, amountMinor, currency, customerId, cardId, title };
  const outcome: StripeSession = await stripe.chargeCard(charge);
  await applySession(dependencies, outcome);
}

/** A payment that Stripe reports later is still credited. */
async function giveUp({ database, clock, logger }: TopUpDependencies, { id, accountId }: Checkout): Promise<void> {
  const now = clock.now();
  await database.transaction().execute(async (tx) => {
    const checkout = await lockCheckout(tx, id);
    if (checkout?.state !== "open") return;
    await updateCheckout(tx, id, { state: "failed", note: "Stripe did not confirm the charge.", endedAt: now });
    await stopTopUp(tx, { checkout, reason: "review", now });
  });
  logger.error({ checkout_id: id, account_id: accountId }, "charge of a saved card given up");
}
