import { presentMoney } from "../../../lib/money.ts";
import { notifyAccountChange } from "../../../platform/database/account-changes.ts";
import type { Database } from "../../../platform/database/database.ts";
import { insertNotice } from "../../notices/index.ts";
import type { Checkout } from "../checkout.ts";
import { describeCard, type StopReason } from "./top-up-rule.ts";
import { findSavedCard, updateRuleToStopped } from "./top-up-store.ts";

/** Longer than after a success: a program that switches the rule on again must not test cards. */
const coolDownMs = 60 * 60_000;

type Stop = {
  checkout: Pick<Checkout, "id" | "accountId" | "amount" | "currency">;
  reason: StopReason;
  now: Date;
};

/** Switches automatic top-up off and mails the owner, in the transaction of what caused it. */
export async function stopTopUp(tx: Database, { checkout, reason, now }: Stop): Promise<void> {
  const { id, accountId, currency } = checkout;
  const nextAt = new Date(now.getTime() + coolDownMs);
  if (!(await updateRuleToStopped(tx, accountId, { reason, nextAt, now }))) return;
  await notifyAccountChange(tx, accountId, "balance");
  const amount = `${presentMoney(checkout.amount)} ${currency}`;
  const common = { id: `top_up_${reason}:${id}`, accountId };
  switch (reason) {
    case "declined": {
      const card = await findSavedCard(tx, accountId);
      const facts = { amount, card: card === null ? "your card" : describeCard(card) };
      return await insertNotice(tx, { ...common, kind: "top_up_declined", facts }, now);
    }
    case "reversed":
      return await insertNotice(tx, { ...common, kind: "top_up_reversed", facts: { payment: id } }, now);
    case "review":
      return await insertNotice(tx, { ...common, kind: "top_up_review", facts: { amount, payment: id } }, now);
  }
}
