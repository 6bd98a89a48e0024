import { sql } from "kysely";
import type { Bill } from "../../lib/bill.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { type BillColumns, type Cause, type StatementRange, toBill, type Unit } from "../ledger/index.ts";

export type ChargeRecord = {
  id: string;
  createdAt: Date;
  model: string | null;
  capability: string | null;
  keyId: string | null;
  cause: Cause;
  requestId: string | null;
  unit: Unit;
  bill: Bill;
  paid: bigint;
  /** Usage that the account could not pay. */
  lost: bigint;
  /** The hold when it was settled. */
  held: bigint;
};

export type ChargeFilter = StatementRange & {
  accountId: AccountId;
  model: string | null;
  keyId: string | null;
  taskId: string | null;
};

/**
 * Newest first. Reads the ledger's charges and holds, the catalog's prices and the tasks. `null` if `after` is not a
 * charge of the account.
 */
export async function listCharges(
  database: Database,
  { accountId, from, to, model, keyId, taskId }: ChargeFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<ChargeRecord[] | null> {
  const last = after === null ? null : await findCreatedAt(database, accountId, after);
  if (after !== null && last === null) return null;
  const { rows } = await sql<ChargeRow>`
    ${selectCharges}
      where charge.account_id = ${accountId}
        and (${from}::timestamptz is null or charge.created_at >= ${from})
        and (${to}::timestamptz is null or charge.created_at < ${to})
        and (${last}::timestamptz is null or (charge.created_at, charge.id) < (${last}::timestamptz, ${after}::text))
        and (${model}::text is null
          or charge.price_id = any (array (select id from prices where model_id = ${model})))
        and (${keyId}::text is null or charge.key_id = ${keyId})
        and (${taskId}::text is null or charge.id = (
          select 'txn_' || substr(hold_id, 6) from tasks where id = ${taskId} and account_id = ${accountId}))
      order by charge.created_at desc, charge.id desc limit ${limit}`.execute(database);
  return rows.map(toRecord);
}

export async function findCharge(
  database: Database,
  { accountId, id }: { accountId: AccountId; id: string },
): Promise<ChargeRecord | null> {
  const { rows } = await sql<ChargeRow>`
    ${selectCharges} where charge.account_id = ${accountId} and charge.id = ${id}`.execute(database);
  const [row] = rows;
  return row === undefined ? null : toRecord(row);
}

export type Refund = { id: string; createdAt: Date; amount: bigint };

/** Refunds of a charge from the ledger's postings, oldest first. */
export async function listRefunds(
  database: Database,
  { accountId, chargeId }: { accountId: AccountId; chargeId: string },
): Promise<Refund[]> {
  const { rows } = await sql<{ id: string; created_at: Date; amount: bigint }>`
    select id, created_at, sum(amount)::bigint as amount from postings
      where refund_of = ${chargeId} and account_id = ${accountId}
      group by id, created_at order by min(number) limit 100`.execute(database);
  return rows.map(({ id, created_at: createdAt, amount }) => ({ id, createdAt, amount }));
}

const selectCharges = sql`
  select charge.id, charge.created_at, price.model_id, price.capability, charge.key_id, hold.cause_kind, hold.cause_id,
      task.request_id, charge.unit, charge.price_id, charge.item_names, charge.item_quantities, charge.item_rates_nano,
      charge.rates_per, charge.minimum_nano, charge.quota_units, charge.paid, charge.lost, hold.amount as held
    from charges charge
      join holds hold on hold.id = charge.hold_id
      left join prices price on price.id = charge.price_id
      left join tasks task on hold.cause_kind = 'task' and task.id = hold.cause_id
        and task.account_id = charge.account_id`;

type ChargeRow = BillColumns & {
  id: string;
  created_at: Date;
  model_id: string | null;
  capability: string | null;
  key_id: string | null;
  cause_kind: Cause["kind"];
  cause_id: string;
  request_id: string | null;
  unit: Unit;
  paid: bigint;
  lost: bigint;
  held: bigint;
};

async function findCreatedAt(database: Database, accountId: AccountId, id: string): Promise<Date | null> {
  const row = await database
    .selectFrom("charges")
    .select("created_at")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row?.created_at ?? null;
}

function toRecord(row: ChargeRow): ChargeRecord {
  const { id, capability, unit, paid, lost, held } = row;
  return {
    ...{ id, capability, unit, paid, lost, held },
    createdAt: row.created_at,
    model: row.model_id,
    keyId: row.key_id,
    cause: { kind: row.cause_kind, id: row.cause_id },
    requestId: row.cause_kind === "request" ? row.cause_id : row.request_id,
    bill: toBill(row),
  };
}
