import { sql } from "kysely";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

/** Sums of half an hour, over all accounts. */
export type MoneySlot = MoneySums & { slotAt: Date };

export type MoneySums = {
  calls: bigint;
  /** Of these, how many have no known cost. */
  unknown: bigint;
  /** Charged to balances. */
  revenue: Nano;
  cost: Nano;
  /** How the customers' credit changed: payments, gifts, refunds of charges, reversed payments, expiry, corrections. */
  sold: Nano;
  given: Nano;
  refunded: Nano;
  reversed: Nano;
  expired: Nano;
  adjusted: Nano;
};

const sumNames = [
  ...(["calls", "unknown", "revenue", "cost"] as const),
  ...(["sold", "given", "refunded", "reversed", "expired", "adjusted"] as const),
];

export const noMoney: MoneySums = {
  ...{ calls: 0n, unknown: 0n, revenue: nano(0n), cost: nano(0n), sold: nano(0n), given: nano(0n) },
  ...{ refunded: nano(0n), reversed: nano(0n), expired: nano(0n), adjusted: nano(0n) },
};

export function addMoney(a: MoneySums, b: MoneySums): MoneySums {
  return Object.fromEntries(sumNames.map((name) => [name, a[name] + b[name]])) as MoneySums;
}

type SlotRow = { slot_at: Date } & Record<(typeof sumNames)[number], string>;

/**
 * Sums a period from the ledger's roll-ups, the charges since, the entries of credit and the costs without a charge. Slots
 * without anything are left out.
 */
export async function readMoneySlots(database: Database, { from, to }: { from: Date; to: Date }): Promise<MoneySlot[]> {
  if (from >= to) return [];
  const { rows } = await sql<SlotRow>`
    with charged as (
      select slot_at, unit, calls, paid, item_names, quantities from usage_rollups
        where slot_at >= ${from} and slot_at < ${to}
      union all
      select date_bin('30 minutes', charge.created_at, 'epoch'), charge.unit, 1, charge.paid, item_names, item_quantities
        from wallets wallet cross join lateral (
          select * from charges where account_id = wallet.account_id
            and created_at >= greatest(wallet.rolled_until, ${from}) and created_at < ${to} offset 0) charge
        where has_unrolled),
    priced as (
      select slot_at, calls, case when unit = 'money' then paid else 0 end as paid, cost.amount
        from charged cross join lateral (
          select sum(quantity) as amount from unnest(item_names, quantities) as item (name, quantity)
            where name like 'cost:%') cost),
    parts (slot_at, calls, unknown, revenue, cost, sold, given, refunded, reversed, expired, adjusted) as (
      select slot_at, sum(calls), coalesce(sum(calls) filter (where amount is null), 0), sum(paid),
          coalesce(sum(amount), 0), 0::numeric, 0::numeric, 0::numeric, 0::numeric, 0::numeric, 0::numeric
        from priced group by slot_at
      union all
      select date_bin('30 minutes', created_at, 'epoch'), sum(calls), 0, 0, sum(cost_nano), 0, 0, 0, 0, 0, 0
        from uncharged_costs where created_at >= ${from} and created_at < ${to} group by 1
      union all
      select date_bin('30 minutes', created_at, 'epoch'), 0, 0, 0, 0,
          coalesce(sum(moved) filter (where kind = 'top_up'), 0), coalesce(sum(moved) filter (where kind = 'grant'), 0),
          coalesce(sum(moved) filter (where kind = 'refund'), 0), coalesce(-sum(moved) filter (where kind = 'reversal'), 0),
          coalesce(-sum(moved) filter (where kind = 'expiry'), 0), coalesce(sum(moved) filter (where kind = 'adjustment'), 0)
        from (
          select created_at, kind, case when credit = bucket_id then amount else -amount end as moved from postings
            where created_at >= ${from} and created_at < ${to} and kind <> 'charge' and kind <> 'loss' and unit = 'money'
        ) entry group by 1)
    select slot_at, ${sql.join(sumNames.map((name) => sql`sum(${sql.ref(name)})::text as ${sql.ref(name)}`))}
      from parts group by slot_at order by slot_at`.execute(database);
  return rows.map(toSlot);
}

export async function listStoredSlots(
  database: Database,
  { from, to }: { from: Date; to: Date },
): Promise<MoneySlot[]> {
  const { rows } = await sql<SlotRow>`
    select slot_at, calls::text, unknown_calls::text as unknown, revenue_nano::text as revenue, cost_nano::text as cost,
        sold_nano::text as sold, given_nano::text as given, refunded_nano::text as refunded,
        reversed_nano::text as reversed, expired_nano::text as expired, adjusted_nano::text as adjusted
      from money_slots where slot_at >= ${from} and slot_at < ${to} order by slot_at`.execute(database);
  return rows.map(toSlot);
}

function toSlot({ slot_at: slotAt, ...sums }: SlotRow): MoneySlot {
  return { slotAt, ...(Object.fromEntries(sumNames.map((name) => [name, BigInt(sums[name])])) as MoneySums) };
}

export type Covered = { from: Date; until: Date };

/** The period whose slots are stored; `null` before the first run. */
export async function findCovered(database: Database): Promise<Covered | null> {
  const row = await database
    .selectFrom("money_slot_progress")
    .select(["covered_from", "covered_until"])
    .executeTakeFirst();
  return row === undefined ? null : { from: row.covered_from, until: row.covered_until };
}

/** Call it in a transaction: slots and progress change together. */
export async function storeSlots(tx: Database, slots: readonly MoneySlot[], { from, until }: Covered): Promise<void> {
  await sql`
    insert into money_slot_progress (covered_from, covered_until) values (${from}, ${until})
      on conflict (is_only) do update set covered_from = excluded.covered_from, covered_until = excluded.covered_until`.execute(
    tx,
  );
  const column = (name: (typeof sumNames)[number]) => sql`${slots.map((slot) => slot[name].toString())}::bigint[]`;
  await sql`
    insert into money_slots (slot_at, calls, unknown_calls, revenue_nano, cost_nano, sold_nano, given_nano, refunded_nano,
        reversed_nano, expired_nano, adjusted_nano)
      select * from unnest(${slots.map(({ slotAt }) => slotAt)}::timestamptz[], ${sql.join(sumNames.map(column))})
      on conflict (slot_at) do nothing`.execute(tx);
}

/** Whether charges before the moment are still missing in the roll-ups. */
export async function hasUnrolledBefore(database: Database, moment: Date): Promise<boolean> {
  const { rows } = await sql<{ has_some: boolean }>`
    select exists (
      select from wallets wallet cross join lateral (
        select 1 from charges where account_id = wallet.account_id and created_at >= wallet.rolled_until
          and created_at < ${moment} limit 1) charge
        where has_unrolled and rolled_until < ${moment}) as has_some`.execute(database);
  return rows[0]?.has_some === true;
}

/** When the first account was created; `null` without any. Ids are in the order of time. */
export async function findBeginning(database: Database): Promise<Date | null> {
  const row = await database.selectFrom("accounts").select("created_at").orderBy("id").limit(1).executeTakeFirst();
  return row?.created_at ?? null;
}
