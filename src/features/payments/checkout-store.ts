import { type Selectable, sql } from "kysely";
import type { AccountId, CheckoutId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { Checkout, CheckoutOrigin, CheckoutState } from "./checkout.ts";

/** Serializes checkout creation per account with an advisory lock, so concurrent requests cannot exceed the limits. */
export async function lockCheckoutsOf(
  tx: Database,
  accountId: AccountId,
  since: Date,
): Promise<{ open: Date[]; recent: Date[] }> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`checkouts of ${accountId}`}, 0))`.execute(tx);
  const rows = await tx
    .selectFrom("checkouts")
    .select(["state", "created_at", "expires_at"])
    .where("account_id", "=", accountId)
    .where("origin", "=", "page")
    .where(({ eb, or }) => or([eb("state", "=", "open"), eb("created_at", ">", since)]))
    .orderBy("created_at")
    .execute();
  return {
    open: rows.filter(({ state }) => state === "open").map(({ expires_at }) => expires_at),
    recent: rows.filter(({ created_at }) => created_at > since).map(({ created_at }) => created_at),
  };
}

/** Idempotent: an attempt counts once. */
export async function addDecline(tx: Database, id: CheckoutId, chargeId: string): Promise<void> {
  await sql`update checkouts set declined_charges = array_append(declined_charges, ${chargeId})
    where id = ${id} and not ${chargeId} = any (declined_charges)`.execute(tx);
}

/** The declined attempts on payment pages that the account opened since then. */
export async function countDeclines(tx: Database, accountId: AccountId, since: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(cardinality(declined_charges)), 0)::int as count from checkouts
      where account_id = ${accountId} and origin = 'page' and created_at > ${since}`.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function insertCheckout(tx: Database, checkout: Checkout): Promise<void> {
  await tx.insertInto("checkouts").values(toRow(checkout)).execute();
}

/** `false` if the payment of this checkout is booked already. */
export async function insertCheckoutOnce(tx: Database, checkout: Checkout): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("checkouts")
    .values(toRow(checkout))
    // No column: of two equal inserts at once, the second may meet the first at any unique index, not only at the id's.
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

function toRow(checkout: Checkout) {
  return {
    id: checkout.id,
    account_id: checkout.accountId,
    amount_nano: checkout.amount,
    currency: checkout.currency,
    amount_minor: checkout.amountMinor,
    state: checkout.state,
    created_at: checkout.createdAt,
    expires_at: checkout.expiresAt,
    payment_id: checkout.paymentId,
    ended_at: checkout.endedAt,
    refunded_minor: checkout.refundedMinor,
    origin: checkout.origin,
    card_save: checkout.cardSave,
    customer_id: checkout.customerId,
    card_id: checkout.cardId,
  };
}

export async function updateSession(
  database: Database,
  id: CheckoutId,
  session: { sessionId: string; url: string },
): Promise<void> {
  await database
    .updateTable("checkouts")
    .set({ session_id: session.sessionId, session_url: session.url })
    .where("id", "=", id)
    .execute();
}

/** `FOR UPDATE`, so a checkout is credited once. Lock order: checkout, then wallet. */
export async function lockCheckout(tx: Database, id: string): Promise<Checkout | null> {
  const row = await selectCheckouts(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toCheckout(row);
}

type CheckoutChanges = {
  state?: CheckoutState;
  note?: string | null;
  sessionId?: string | null;
  paymentId?: string | null;
  cardSave?: "done";
  completedAt?: Date;
  endedAt?: Date;
};

/** Leaves absent fields unchanged. */
export async function updateCheckout(tx: Database, id: CheckoutId, changes: CheckoutChanges): Promise<void> {
  await tx
    .updateTable("checkouts")
    .set({
      // SQL needs at least one column to set.
      id,
      ...(changes.state === undefined ? {} : { state: changes.state }),
      ...(changes.note === undefined ? {} : { note: changes.note }),
      ...(changes.sessionId === undefined ? {} : { session_id: changes.sessionId }),
      ...(changes.paymentId === undefined ? {} : { payment_id: changes.paymentId }),
      ...(changes.cardSave === undefined ? {} : { card_save: changes.cardSave }),
      ...(changes.completedAt === undefined ? {} : { completed_at: changes.completedAt }),
      ...(changes.endedAt === undefined ? {} : { ended_at: changes.endedAt }),
    })
    .where("id", "=", id)
    .execute();
}

/** Fails a checkout if it is still open. */
export async function updateToFailed(
  database: Database,
  id: CheckoutId,
  { note, now }: { note: string; now: Date },
): Promise<void> {
  await database
    .updateTable("checkouts")
    .set({ state: "failed", note, ended_at: now })
    .where("id", "=", id)
    .where("state", "=", "open")
    .execute();
}

/** Open checkouts that were created, and last polled, before the given time; the longest wait first. */
export async function listSilentCheckouts(
  database: Database,
  { origin, before, limit }: { origin: CheckoutOrigin; before: Date; limit: number },
): Promise<Checkout[]> {
  const rows = await selectCheckouts(database)
    .where("state", "=", "open")
    .where("origin", "=", origin)
    .where("created_at", "<=", before)
    .where(({ eb, or }) => or([eb("polled_at", "is", null), eb("polled_at", "<=", before)]))
    .orderBy(sql`coalesce(polled_at, created_at)`)
    .limit(limit)
    .execute();
  return rows.map(toCheckout);
}

/** Payments since a time without an invoice, and not before the first invoice terms. Reads tables of invoices. */
export async function listUndocumented(
  database: Database,
  { since, limit }: { since: Date; limit: number },
): Promise<CheckoutId[]> {
  const { rows } = await sql<{ id: CheckoutId }>`
    select id from checkouts
      where state = 'paid' and ended_at >= greatest(${since}, (select applied_at from invoice_terms where version = 1))
        and exists (select from invoice_terms)
        and not exists (select from billing_documents where payment_id = checkouts.id and corrects is null)
      order by ended_at limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

export async function updateAskedAt(database: Database, id: CheckoutId, askedAt: Date): Promise<void> {
  await database.updateTable("checkouts").set({ polled_at: askedAt }).where("id", "=", id).execute();
}

export async function findCheckoutByPayment(database: Database, paymentId: string): Promise<Checkout | null> {
  const row = await selectCheckouts(database).where("payment_id", "=", paymentId).executeTakeFirst();
  return row === undefined ? null : toCheckout(row);
}

export async function updateReversed(
  tx: Database,
  id: CheckoutId,
  { refundedMinor, disputedAt }: Pick<Checkout, "refundedMinor" | "disputedAt">,
): Promise<void> {
  const reversed = { refunded_minor: refundedMinor, disputed_at: disputedAt };
  await tx.updateTable("checkouts").set(reversed).where("id", "=", id).execute();
}

/** Operators omit `accountId`. */
export async function findCheckout(
  database: Database,
  { id, accountId }: { id: string; accountId?: AccountId },
): Promise<Checkout | null> {
  let query = selectCheckouts(database).where("id", "=", id);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toCheckout(row);
}

type CheckoutFilter = { accountId?: AccountId; state?: CheckoutState; after?: string | undefined; limit: number };

/** Newest first. Operators omit `accountId` to list all accounts. */
export async function listCheckouts(
  database: Database,
  { accountId, state, after, limit }: CheckoutFilter,
): Promise<Checkout[]> {
  let query = selectCheckouts(database);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  if (state !== undefined) query = query.where("state", "=", state);
  if (after !== undefined) query = query.where("id", "<", after);
  return (await query.orderBy("id", "desc").limit(limit).execute()).map(toCheckout);
}

export type PaymentFilter = {
  accountId: AccountId | null;
  state: CheckoutState | null;
  origin: CheckoutOrigin | null;
  from: Date | null;
  to: Date | null;
};

/** How many payments a page reads at most: rare ones may be far apart. */
const scannedMax = 20_000;

/**
 * Payments of all accounts by time, newest first. `next` is where the next page begins, also if this one is short because
 * enough was read.
 */
export async function listPayments(
  database: Database,
  { accountId, state, origin, from, to }: PaymentFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ checkouts: Checkout[]; next: string | null }> {
  const start = after === null ? null : await findCheckout(database, { id: after });
  const scan = sql`
    select * from checkouts
      where (${accountId}::text is null or account_id = ${accountId})
        and (${from}::timestamptz is null or created_at >= ${from}) and (${to}::timestamptz is null or created_at < ${to})
        and (${start?.id ?? null}::text is null
          or (created_at, id) < (${start?.createdAt ?? null}::timestamptz, ${start?.id ?? null}))
      order by created_at desc, id desc limit ${scannedMax}`;
  const { rows } = await sql<Selectable<Tables["checkouts"]>>`
    select * from (${scan}) scanned
      where (${state}::text is null or state = ${state}) and (${origin}::text is null or origin = ${origin})
      order by created_at desc, id desc limit ${limit + 1}`.execute(database);
  const checkouts = rows.slice(0, limit).map(toCheckout);
  if (rows.length > limit) return { checkouts, next: checkouts.at(-1)?.id ?? null };
  if (state === null && origin === null) return { checkouts, next: null };
  const { rows: ends } = await sql<{ id: string }>`
    select id from (${scan}) scanned order by created_at desc, id desc offset ${scannedMax - 1} limit 1`.execute(
    database,
  );
  return { checkouts, next: ends[0]?.id ?? null };
}

function selectCheckouts(database: Database) {
  return database.selectFrom("checkouts").selectAll();
}

function toCheckout(row: Selectable<Tables["checkouts"]>): Checkout {
  return {
    // The table's check constraints guarantee the id prefixes, the state, the origin and `card_save`.
    id: row.id as CheckoutId,
    accountId: row.account_id as AccountId,
    amount: nano(row.amount_nano),
    currency: row.currency,
    amountMinor: row.amount_minor,
    state: row.state as CheckoutState,
    sessionId: row.session_id,
    sessionUrl: row.session_url,
    paymentId: row.payment_id,
    note: row.note,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    completedAt: row.completed_at,
    endedAt: row.ended_at,
    refundedMinor: row.refunded_minor,
    disputedAt: row.disputed_at,
    origin: row.origin as CheckoutOrigin,
    cardSave: row.card_save as Checkout["cardSave"],
    customerId: row.customer_id,
    cardId: row.card_id,
  };
}
