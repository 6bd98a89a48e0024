import { sql } from "kysely";
import type { AccountId, CheckoutId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { Checkout, CheckoutState } from "./checkout.ts";

/** Makes those who begin checkouts of one account do it one after another, so that none exceeds the limits. */
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
    .where(({ eb, or }) => or([eb("state", "=", "open"), eb("created_at", ">", since)]))
    .orderBy("created_at")
    .execute();
  return {
    open: rows.filter(({ state }) => state === "open").map(({ expires_at }) => expires_at),
    recent: rows.filter(({ created_at }) => created_at > since).map(({ created_at }) => created_at),
  };
}

export async function insertCheckout(tx: Database, checkout: Checkout): Promise<void> {
  await tx
    .insertInto("checkouts")
    .values({
      id: checkout.id,
      account_id: checkout.accountId,
      amount_nano: checkout.amount,
      currency: checkout.currency,
      amount_minor: checkout.amountMinor,
      state: checkout.state,
      created_at: checkout.createdAt,
      expires_at: checkout.expiresAt,
      refunded_minor: checkout.refundedMinor,
    })
    .execute();
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

/** Locks the checkout until the transaction ends, so that it is credited once. Wallets are locked after it. */
export async function lockCheckout(tx: Database, id: string): Promise<Checkout | null> {
  const row = await selectCheckouts(tx).where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toCheckout(row);
}

type CheckoutChanges = {
  state?: CheckoutState;
  note?: string | null;
  sessionId?: string;
  paymentId?: string | null;
  completedAt?: Date;
  endedAt?: Date;
};

/** What is absent stays. */
export async function updateCheckout(tx: Database, id: CheckoutId, changes: CheckoutChanges): Promise<void> {
  await tx
    .updateTable("checkouts")
    .set({
      // An update has to set something.
      id,
      ...(changes.state === undefined ? {} : { state: changes.state }),
      ...(changes.note === undefined ? {} : { note: changes.note }),
      ...(changes.sessionId === undefined ? {} : { session_id: changes.sessionId }),
      ...(changes.paymentId === undefined ? {} : { payment_id: changes.paymentId }),
      ...(changes.completedAt === undefined ? {} : { completed_at: changes.completedAt }),
      ...(changes.endedAt === undefined ? {} : { ended_at: changes.endedAt }),
    })
    .where("id", "=", id)
    .execute();
}

/** Ends a checkout that will not be paid, unless something else became of it meanwhile. */
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

/** Those that have been open for long, and about which Stripe was not asked lately, longest first. */
export async function listSilentCheckouts(
  database: Database,
  { before, limit }: { before: Date; limit: number },
): Promise<Checkout[]> {
  const rows = await selectCheckouts(database)
    .where("state", "=", "open")
    .where("created_at", "<=", before)
    .where(({ eb, or }) => or([eb("asked_at", "is", null), eb("asked_at", "<=", before)]))
    .orderBy(sql`coalesce(asked_at, created_at)`)
    .limit(limit)
    .execute();
  return rows.map(toCheckout);
}

export async function updateAskedAt(database: Database, id: CheckoutId, askedAt: Date): Promise<void> {
  await database.updateTable("checkouts").set({ asked_at: askedAt }).where("id", "=", id).execute();
}

/** The checkout that a payment of Stripe's paid, `null` where none is known. */
export async function findCheckoutByPayment(database: Database, paymentId: string): Promise<Checkout | null> {
  const row = await selectCheckouts(database).where("payment_id", "=", paymentId).executeTakeFirst();
  return row === undefined ? null : toCheckout(row);
}

/** What was given back or contested of a payment, in sum. */
export async function updateReversed(
  tx: Database,
  id: CheckoutId,
  { refundedMinor, disputedAt }: Pick<Checkout, "refundedMinor" | "disputedAt">,
): Promise<void> {
  const reversed = { refunded_minor: refundedMinor, disputed_at: disputedAt };
  await tx.updateTable("checkouts").set(reversed).where("id", "=", id).execute();
}

/** Without an account: for operators. */
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

/** Newest first; without an account those of all, for operators. */
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

function selectCheckouts(database: Database) {
  return database.selectFrom("checkouts").selectAll();
}

function toCheckout(row: Tables["checkouts"]): Checkout {
  return {
    // The table's checks hold the prefixes and the words.
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
    byHandSince: row.by_hand_since,
  };
}
