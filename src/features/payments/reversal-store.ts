import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { Reversal, ReversalKind } from "./reversal.ts";

/** Refunds and disputes of the checkouts, in the order in which they were first stored. */
export async function listReversals(
  database: Database,
  checkoutIds: readonly string[],
): Promise<(Reversal & { checkoutId: string })[]> {
  if (checkoutIds.length === 0) return [];
  const query = database.selectFrom("payment_reversals").selectAll().where("checkout_id", "in", checkoutIds);
  return (await query.orderBy("number").execute()).map(toReversal);
}

/** Refunds and disputes of all payments, newest first. `number` is their order. */
export async function listReversalsOfAll(
  database: Database,
  { kind, before, limit }: { kind: ReversalKind | null; before: bigint | null; limit: number },
): Promise<(Reversal & { checkoutId: string; number: bigint; receivedAt: Date })[]> {
  let query = database.selectFrom("payment_reversals").selectAll();
  if (kind !== null) query = query.where("kind", "=", kind);
  if (before !== null) query = query.where("number", "<", before);
  const rows = await query.orderBy("number", "desc").limit(limit).execute();
  return rows.map((row) => ({ ...toReversal(row), number: row.number, receivedAt: row.received_at }));
}

/** Call it under the lock of the checkout. */
export async function putReversal(
  tx: Database,
  checkoutId: string,
  { reversal, now }: { reversal: Reversal; now: Date },
): Promise<void> {
  const { id, kind, status, amountMinor, reason } = reversal;
  const facts = { status, amount_minor: amountMinor, reason, changed_at: now };
  await tx
    .insertInto("payment_reversals")
    .values({ id, checkout_id: checkoutId, kind, received_at: now, ...facts })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(facts))
    .execute();
}

function toReversal(row: Omit<Tables["payment_reversals"], "number">): Reversal & { checkoutId: string } {
  return {
    checkoutId: row.checkout_id,
    id: row.id,
    // The table's check constraint guarantees the kind.
    kind: row.kind as ReversalKind,
    status: row.status,
    amountMinor: row.amount_minor,
    reason: row.reason,
  };
}

/** The time up to which the sweep has polled Stripe's events; `null` before the first poll. */
export async function readAskedUntil(database: Database): Promise<Date | null> {
  const row = await database.selectFrom("stripe_progress").select("polled_until").executeTakeFirst();
  return row?.polled_until ?? null;
}

export async function writeAskedUntil(database: Database, askedUntil: Date): Promise<void> {
  const progress = { polled_until: askedUntil };
  await database
    .insertInto("stripe_progress")
    .values(progress)
    .onConflict((conflict) => conflict.column("only_one").doUpdateSet(progress))
    .execute();
}
