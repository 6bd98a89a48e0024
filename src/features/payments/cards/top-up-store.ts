import { sql } from "kysely";
import type { AccountId, CheckoutId } from "../../../lib/ids.ts";
import { type Nano, nano } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Tables } from "../../../platform/database/tables.ts";
import type { SavedCard, StopReason, TopUpRule, TopUpState } from "./top-up-rule.ts";

export async function findRule(database: Database, accountId: AccountId): Promise<TopUpRule | null> {
  const row = await selectRules(database).where("account_id", "=", accountId).executeTakeFirst();
  return row === undefined ? null : toRule(row);
}

/** `FOR UPDATE`, so an account has one attempt at a time. Lock order: checkout, then rule. */
export async function lockRule(tx: Database, accountId: AccountId): Promise<TopUpRule | null> {
  const row = await selectRules(tx).where("account_id", "=", accountId).forUpdate().executeTakeFirst();
  return row === undefined ? null : toRule(row);
}

/** Keeps the time of the next attempt, so switching off and on does not skip a cool-down. */
export async function putRule(tx: Database, rule: TopUpRule, now: Date): Promise<void> {
  const terms = {
    state: rule.state,
    stop_reason: rule.stopReason,
    threshold_nano: rule.threshold,
    amount_nano: rule.amount,
    amount_minor: rule.amountMinor,
    month_max_nano: rule.monthMax,
    changed_at: now,
  };
  await tx
    .insertInto("auto_top_ups")
    .values({ account_id: rule.accountId, next_at: rule.nextAt, ...terms })
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(terms))
    .execute();
}

/** Returns whether the rule was on. */
export async function updateRuleToStopped(
  tx: Database,
  accountId: AccountId,
  { reason, nextAt, now }: { reason: StopReason; nextAt: Date; now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("auto_top_ups")
    .set({ state: "stopped", stop_reason: reason, next_at: nextAt, changed_at: now })
    .where("account_id", "=", accountId)
    .where("state", "=", "on")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function updateRuleToOff(tx: Database, accountId: AccountId, now: Date): Promise<void> {
  await tx
    .updateTable("auto_top_ups")
    .set({ state: "off", stop_reason: null, changed_at: now })
    .where("account_id", "=", accountId)
    .execute();
}

export async function updateNextAttempt(tx: Database, accountId: AccountId, nextAt: Date): Promise<void> {
  await tx.updateTable("auto_top_ups").set({ next_at: nextAt }).where("account_id", "=", accountId).execute();
}

type Low = { after: AccountId | ""; now: Date; limit: number };

/** Due rules with a saved card, in account order, and the available money of their accounts. */
export async function listDueRules(
  database: Database,
  { after, now, limit }: Low,
): Promise<{ accountId: AccountId; threshold: Nano }[]> {
  const { rows } = await sql<{ account_id: AccountId; threshold_nano: bigint }>`
    select account_id, threshold_nano from auto_top_ups
      where state = 'on' and next_at <= ${now} and account_id > ${after}
        and exists (select from saved_cards where saved_cards.account_id = auto_top_ups.account_id)
      order by account_id limit ${limit}`.execute(database);
  return rows.map((row) => ({ accountId: row.account_id, threshold: nano(row.threshold_nano) }));
}

/** The account's automatic charges: the open one, attempts since a time, and the sum of a month. */
export async function sumAutomaticCharges(
  tx: Database,
  accountId: AccountId,
  { attemptsSince, monthStart }: { attemptsSince: Date; monthStart: Date },
): Promise<{ hasOpenCharge: boolean; attempts: number; chargedThisMonth: Nano }> {
  const { rows } = await sql<{ is_open: boolean | null; attempts: bigint; charged: string }>`
    select bool_or(state = 'open') as is_open,
        count(*) filter (where created_at > ${attemptsSince}) as attempts,
        coalesce(sum(amount_nano) filter (
          where created_at >= ${monthStart} and state in ('open', 'paid', 'mismatched')), 0)::text as charged
      from checkouts where account_id = ${accountId} and origin = 'automatic'
        and created_at > least(${attemptsSince}::timestamptz, ${monthStart}::timestamptz) - interval '1 day'`.execute(
    tx,
  );
  const [row] = rows;
  return {
    hasOpenCharge: row?.is_open === true,
    attempts: Number(row?.attempts ?? 0n),
    chargedThisMonth: nano(BigInt(row?.charged ?? "0")),
  };
}

export async function findSavedCard(database: Database, accountId: AccountId): Promise<SavedCard | null> {
  const row = await database
    .selectFrom("saved_cards")
    .selectAll()
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    // The foreign key guarantees the prefix.
    accountId: row.account_id as AccountId,
    customerId: row.customer_id,
    cardId: row.card_id,
    brand: row.brand,
    last4: row.last4,
    expMonth: row.exp_month,
    expYear: row.exp_year,
    savedAt: row.saved_at,
  };
}

/** Keeps a card that was saved later. */
export async function putSavedCard(tx: Database, card: SavedCard): Promise<void> {
  const columns = {
    customer_id: card.customerId,
    card_id: card.cardId,
    brand: card.brand,
    last4: card.last4,
    exp_month: card.expMonth,
    exp_year: card.expYear,
    saved_at: card.savedAt,
  };
  await tx
    .insertInto("saved_cards")
    .values({ account_id: card.accountId, ...columns })
    .onConflict((conflict) =>
      conflict.column("account_id").doUpdateSet(columns).where("saved_cards.saved_at", "<=", card.savedAt),
    )
    .execute();
}

export async function deleteSavedCard(tx: Database, { accountId, cardId }: SavedCard): Promise<void> {
  await tx.deleteFrom("saved_cards").where("account_id", "=", accountId).where("card_id", "=", cardId).execute();
}

/** A removed card must not come back with a late event. */
export async function updateCardsUnwanted(tx: Database, accountId: AccountId): Promise<void> {
  await tx
    .updateTable("checkouts")
    .set({ card_save: "done" })
    .where("account_id", "=", accountId)
    .where("card_save", "=", "wanted")
    .where("state", "=", "paid")
    .execute();
}

/** Paid checkouts since a time whose card was not read yet. */
export async function listCardsWanted(
  database: Database,
  { since, limit }: { since: Date; limit: number },
): Promise<CheckoutId[]> {
  const rows = await database
    .selectFrom("checkouts")
    .select("id")
    .where("card_save", "=", "wanted")
    .where("state", "=", "paid")
    .where("ended_at", ">", since)
    .orderBy("ended_at")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id as CheckoutId);
}

function selectRules(database: Database) {
  return database.selectFrom("auto_top_ups").selectAll();
}

function toRule(row: Tables["auto_top_ups"]): TopUpRule {
  return {
    // The table's constraints guarantee the prefix and the words.
    accountId: row.account_id as AccountId,
    state: row.state as TopUpState,
    stopReason: row.stop_reason as StopReason | null,
    threshold: nano(row.threshold_nano),
    amount: nano(row.amount_nano),
    amountMinor: row.amount_minor,
    monthMax: nano(row.month_max_nano),
    nextAt: row.next_at,
  };
}
