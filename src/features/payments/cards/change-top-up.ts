import type { AccountId } from "../../../lib/ids.ts";
import { type Nano, nano, parseMoney } from "../../../lib/money.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendOwnAction, type OwnActor } from "../../audit/index.ts";
import type { PaymentDependencies } from "../apply-reversal.ts";
import { type PaymentLimits, parseAmount } from "../create-checkout.ts";
import { findMonthStart } from "./find-month-start.ts";
import type { SavedCard, TopUpRule } from "./top-up-rule.ts";
import {
  deleteSavedCard,
  findRule,
  findSavedCard,
  lockRule,
  putRule,
  sumAutomaticCharges,
  updateCardsUnwanted,
  updateRuleToOff,
} from "./top-up-store.ts";

export type TopUpTerms = { threshold: string; amount: string; month_max: string };

export type TopUpView = { rule: TopUpRule | null; card: SavedCard | null; chargedThisMonth: Nano };

export async function readTopUp(database: Database, accountId: AccountId, now: Date): Promise<TopUpView> {
  const since = { attemptsSince: now, monthStart: findMonthStart(now) };
  const { chargedThisMonth } = await sumAutomaticCharges(database, accountId, since);
  return {
    rule: await findRule(database, accountId),
    card: await findSavedCard(database, accountId),
    chargedThisMonth,
  };
}

/** Switches automatic top-up on, or changes its amounts. A cool-down after an attempt goes on. */
export async function switchTopUpOn(
  {
    database,
    clock,
    ...limits
  }: Pick<PaymentDependencies, "database" | "clock"> & Pick<PaymentLimits, "currency" | "amountMin" | "amountMax">,
  { owner, terms }: { owner: OwnActor; terms: TopUpTerms },
): Promise<void> {
  const { accountId } = owner;
  const { amount, amountMinor } = parseAmount(limits, terms.amount);
  const threshold = parseBound("threshold", terms.threshold);
  const monthMax = parseBound("month_max", terms.month_max);
  if (threshold > amount) {
    throw createWrong("threshold", "`threshold` must not exceed `amount`, or one top-up would not be enough.");
  }
  if (monthMax < amount) throw createWrong("month_max", "`month_max` must be at least `amount`.");
  const now = clock.now();
  await database.transaction().execute(async (tx) => {
    const known = await lockRule(tx, accountId);
    if ((await findSavedCard(tx, accountId)) === null) {
      throw new AppError("invalid_parameter", "Save a card first: pay by card once with `save_card`.");
    }
    const nextAt = known?.nextAt ?? now;
    const rule: TopUpRule = {
      accountId,
      state: "on",
      stopReason: null,
      threshold,
      amount,
      amountMinor,
      monthMax,
      nextAt,
    };
    await putRule(tx, rule, now);
    await appendOwnAction(tx, owner, { action: "top_up.switched_on", after: { ...terms } });
  });
}

/** A charge that has begun is still credited. */
export async function switchTopUpOff(database: Database, owner: OwnActor, now: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    await updateRuleToOff(tx, owner.accountId, now);
    await appendOwnAction(tx, owner, { action: "top_up.switched_off" });
  });
}

/** Removes the card at Stripe first: after a crash in between, it is still listed and can be removed again. */
export async function removeCard(
  { database, clock, stripe }: Pick<PaymentDependencies, "database" | "clock" | "stripe">,
  owner: OwnActor,
): Promise<void> {
  const { accountId } = owner;
  const card = await findSavedCard(database, accountId);
  if (card === null) throw new AppError("not_found", "There is no saved card.");
  await stripe.detachCard(card.cardId);
  await database.transaction().execute(async (tx) => {
    await updateCardsUnwanted(tx, accountId);
    await updateRuleToOff(tx, accountId, clock.now());
    await deleteSavedCard(tx, card);
    await appendOwnAction(tx, owner, { action: "top_up.card_removed" });
  });
}

function parseBound(param: "threshold" | "month_max", text: string): Nano {
  const value = parseMoney(text);
  if (value !== null && value > 0n) return nano(value);
  throw createWrong(param, `\`${param}\` must be a positive number, such as 20.00.`);
}

function createWrong(param: keyof TopUpTerms, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}
