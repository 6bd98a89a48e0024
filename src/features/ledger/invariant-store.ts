import { CompiledQuery, sql } from "kysely";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import {
  holdOfPosting,
  listScopeValues,
  reversalName,
  type Scope,
  scopeStatements,
  signedAmount,
  spendingName,
} from "./check-scope-store.ts";

export type Violation = { invariant: string; accountId: string; message: string };

/** What an invariant compares. It decides the scopes that can check it. */
type Subject = "sums" | "balances" | "entries" | "holds" | "usage";

type Invariant = {
  name: string;
  /** What always holds. The statement selects violations: an account and a message that names the rows. */
  promise: string;
  statement: string;
  subject: Subject;
};

/** Sums need the whole history or its sealed sums; balances need the newest entry; holds and entries need only themselves. */
const askedIn: Record<Subject, readonly Scope["kind"][]> = {
  sums: ["whole", "sealed"],
  balances: ["whole", "recent", "sealed"],
  entries: ["whole", "recent", "sealed", "part"],
  holds: ["whole", "recent", "sealed", "part", "holds"],
  usage: ["whole", "sealed", "part", "usage"],
};

const violationsMax = 1000;
/** Statement timeouts: a full check takes longer than any request, a portion of it up to minutes. */
const wholeTimeout = "1h";
const portionTimeout = "10min";
/** How long after its expiry a hold may stay open before the sweep is overdue. */
const sweepGraceMinutes = 10;

export const invariants: readonly Invariant[] = [
  {
    name: "A",
    subject: "sums",
    promise: "A bucket's balance is the sum of its entries, which are numbered without gaps.",
    statement: `
      select bucket.account_id, format('bucket %s has %s after %s entries; they sum to %s, are %s and end with number %s',
          bucket.id, posted, entry_count, coalesce(total, 0), coalesce(entries, 0), coalesce(last_number, 0)) as message
        from scope_buckets bucket left join (
          select bucket_id, sum(total) as total, sum(entries) as entries, max(last_number) as last_number
            from (
              select bucket_id, sum(${signedAmount}) as total, count(*) as entries, max(entry_number) as last_number
                from scope_postings posting group by bucket_id
              union all
              select name, total, entries, entries from sealed_sums where about = 'bucket') parts
            group by bucket_id) summed on summed.bucket_id = bucket.id
        where (posted, entry_count, entry_count)
          is distinct from (coalesce(total, 0), coalesce(entries, 0), coalesce(last_number, 0))
      union all
      select posting.account_id, format('posting %s belongs to bucket %s, which is missing or another account''s', posting.id, bucket_id)
        from scope_postings posting left join scope_buckets bucket on bucket.id = posting.bucket_id
        where posting.bucket_id is not null and bucket.account_id is distinct from posting.account_id`,
  },
  {
    name: "A (end)",
    subject: "balances",
    promise: "A bucket's last entry has the bucket's balance and its number of entries.",
    statement: `
      select bucket.account_id, format('bucket %s has %s after %s entries; the last one, %s, says %s',
          bucket.id, posted, entry_count, coalesce(last.entry_number, 0), coalesce(last.balance_after, 0)) as message
        from scope_buckets bucket left join lateral (
          select entry_number, balance_after from postings where bucket_id = bucket.id
            order by entry_number desc limit 1) last on true
        where (posted, entry_count) is distinct from (coalesce(last.balance_after, 0), coalesce(last.entry_number, 0))`,
  },
  {
    name: "B",
    subject: "entries",
    promise: "Each entry continues the balance of the entry before it.",
    // The window function finds most predecessors; only that of each bucket's first entry is looked up.
    statement: `
      select posting.account_id, format('posting %s: bucket %s had %s, %s makes %s, but it says %s', posting.id, posting.bucket_id,
          coalesce(previous.balance_after, 0), ${signedAmount},
          coalesce(previous.balance_after, 0) + ${signedAmount}, posting.balance_after) as message
        from (
          select *, lag(entry_number) over entries as beside_number, lag(balance_after) over entries as beside_balance
            from scope_postings where bucket_id is not null window entries as (partition by bucket_id order by entry_number)
        ) posting left join lateral (
          select beside_balance as balance_after where beside_number = posting.entry_number - 1
          union all
          select balance_after from postings where bucket_id = posting.bucket_id and entry_number = posting.entry_number - 1
            and beside_number is distinct from posting.entry_number - 1) previous on true
        where posting.balance_after <> coalesce(previous.balance_after, 0) + ${signedAmount}
          or (previous.balance_after is null and posting.entry_number <> 1)`,
  },
  {
    name: "C",
    subject: "balances",
    promise: "A bucket's amount on hold is the sum of its open holds.",
    statement: `
      select coalesce(bucket.account_id, line.account_id) as account_id, format('bucket %s holds %s, its open holds %s',
          coalesce(bucket.id, line.bucket_id), coalesce(bucket.held, 0), coalesce(line.total, 0)) as message
        from scope_buckets bucket full join (
          select hold.account_id, line.bucket_id, sum(line.amount) as total
            from scope_holds hold, unnest(hold.bucket_ids, hold.bucket_amounts) as line (bucket_id, amount)
            where hold.state = 'open' group by 1, 2) line
          on line.bucket_id = bucket.id and line.account_id = bucket.account_id
        where coalesce(bucket.held, 0) <> coalesce(line.total, 0)`,
  },
  {
    name: "D",
    subject: "holds",
    promise: "A hold is the sum of its parts.",
    statement: `
      select hold.account_id, format('hold %s is %s, its parts are %s', hold.id, hold.amount, parts.total) as message
        from scope_holds hold, lateral (
          select coalesce(sum(amount), 0) as total, coalesce(min(amount), 1) as least
            from unnest(hold.bucket_amounts) as amount) parts
        where hold.state <> 'refused' and (parts.total <> hold.amount or parts.least <= 0)`,
  },
  {
    name: "E",
    subject: "holds",
    promise: "A settled hold was charged exactly its settled amount, at most the hold; other holds were not charged.",
    statement: `
      select account_id, format('hold %s is %s with %s of %s settled; its postings charge %s',
          id, state, settled, amount, posted_paid) as message
        from scope_bills
        where settled <> posted_paid or settled > amount or (state <> 'settled' and posted_legs > 0)`,
  },
  {
    name: "F",
    subject: "entries",
    promise: "No balance is negative, and no bucket holds more than its balance.",
    statement: `
      select account_id, format('bucket %s has %s and holds %s', id, posted, held) as message
        from scope_buckets where posted < 0 or held < 0 or posted < held
      union all
      select account_id, format('posting %s leaves %s', id, balance_after) from scope_postings where balance_after < 0`,
  },
  {
    name: "G",
    subject: "holds",
    promise: "Every charge and loss belongs to the hold that its settlement ended, and has a bill.",
    statement: `
      select posting.account_id, format('posting %s (%s of %s) belongs to hold %s, which is %s', posting.id, posting.kind,
          posting.amount, ${holdOfPosting}, coalesce(bill.state, 'missing')) as message
        from scope_postings posting left join scope_bills bill on bill.id = ${holdOfPosting}
        where posting.kind in ('charge', 'loss') and (bill.state is distinct from 'settled'
          or bill.account_id <> posting.account_id or bill.settlement_fingerprint <> posting.fingerprint or bill.charge_id is null)
      union all
      select account_id, format('hold %s is settled, but has no bill', id)
        from scope_bills
        where state = 'settled' and (charge_hold_id, charge_account_id, charge_unit) is distinct from (id, account_id, unit)`,
  },
  {
    name: "H",
    subject: "holds",
    promise: "A refused hold has no parts, postings or charges.",
    statement: `
      select account_id, format('hold %s was refused, but has parts, postings or charges', id) as message
        from scope_bills
        where state = 'refused' and (cardinality(bucket_ids) > 0 or posted_legs > 0 or charge_id is not null)`,
  },
  {
    name: "I",
    subject: "sums",
    promise: "In every unit, customers' balances equal what the system accounts gave; redeemed codes are booked.",
    statement: `
      select account_id, format('buckets of %s have %s, the system accounts gave %s', unit, sum(has), sum(given)) as message
        from (
          select account_id, unit, posted as has, 0 as given from scope_buckets
          union all
          select account_id, unit, 0, case when credit = bucket_id then amount else -amount end
            from scope_postings where bucket_id is not null
          union all
          select account_id, name, 0, total from sealed_sums where about = 'unit') sides
        group by account_id, unit having sum(has) <> sum(given)
      union all
      select account_id, format('codes worth %s were redeemed, %s are booked', sum(redeemed), sum(booked))
        from (
          select redeemed_by as account_id, amount_nano as redeemed, 0 as booked from redeem_codes
            where redeemed_by is not null and ($1::text[] is null or redeemed_by = any($1))
          union all
          select account_id, 0, amount from scope_postings where debit = 'funding:code'
          union all
          select account_id, 0, total from sealed_sums where about = 'code') codes
        group by account_id having sum(redeemed) <> sum(booked)`,
  },
  {
    name: "J",
    subject: "holds",
    promise: "Recomputed from its price and quantities, each charge equals what was paid and lost.",
    statement: `
      select account_id, format('charge %s: %s paid and %s lost, its bill says %s, its postings %s and %s', charge_id,
          charge_paid, charge_lost, cost, posted_paid, posted_lost) as message
        from scope_bills cross join lateral (
          select case charge_unit when 'money' then charge_cost(item_quantities, item_rates_nano, rates_per, minimum_nano)
            else quota_units end as cost) bill
        where charge_id is not null
          and (cost <> charge_paid + charge_lost or posted_paid <> charge_paid or posted_lost <> charge_lost)`,
  },
  {
    name: "K",
    subject: "holds",
    promise: "No hold stays open long after its expiry.",
    statement: `
      select account_id, format('hold %s expired at %s but is open', id, expires_at) as message
        from scope_holds where state = 'open' and expires_at < $3::timestamptz - interval '${sweepGraceMinutes} minutes'`,
  },
  {
    name: "L",
    subject: "sums",
    promise: "A budget's held and spent amounts are the sums of the holds of its key and the keys it replaced.",
    statement: `
      select account_id, format('budget %s (key, period) has %s held and %s spent; its holds say %s and %s', name, sum(held),
          sum(spent), sum(hold_held), sum(hold_spent)) as message
        from (
          select account_id, ${spendingName("key_id", "starts_at")} as name, held, spent, 0 as hold_held, 0 as hold_spent
            from key_spending where $1::text[] is null or account_id = any($1)
          union all
          select hold.account_id, ${spendingName("coalesce(key.lineage_id, hold.key_id)", "budget_starts_at")}, 0, 0,
              case state when 'open' then amount else 0 end, settled
            from scope_holds hold left join api_keys key on key.id = hold.key_id
            where budget_starts_at is not null
          union all
          select account_id, name, 0, 0, 0, total from sealed_sums where about = 'spending') sides
        group by account_id, name having sum(held) <> sum(hold_held) or sum(spent) <> sum(hold_spent)`,
  },
  {
    name: "M",
    subject: "sums",
    promise: "The amount clawed back for each reversed payment is the sum of its reversals.",
    statement: `
      select account_id, format('%s: %s clawed back, its reversals sum to %s', name, sum(taken), sum(reversed)) as message
        from (
          select account_id, ${reversalName} as name, taken_nano as taken, 0 as reversed from clawbacks
            where $1::text[] is null or account_id = any($1)
          union all
          select account_id, ${reversalName}, 0, -(${signedAmount}) from scope_postings posting where kind = 'reversal'
          union all
          select account_id, name, 0, total from sealed_sums where about = 'reversal') sides
        group by account_id, name having sum(taken) <> sum(reversed)`,
  },
  {
    name: "N",
    subject: "usage",
    promise: "A day's roll-ups are the sums of its charges before the account's mark.",
    statement: `
      select account_id, format('usage of %s (%s, key %s) on %s: %s calls and %s paid more than its charges, or other quantities of %s',
          price_id, unit, key_id, day::date, sum(side * calls), sum(side * paid), item_names) as message
        from (
          select account_id, date_bin('1 day', slot_at, 'epoch') as day, key_id, price_id, unit, item_names, 1 as side,
              calls, paid, quantities
            from scope_rollups
          union all
          select account_id, date_bin('1 day', created_at, 'epoch'), key_id, price_id, unit, item_names, -1,
              1, paid, item_quantities
            from scope_charges) sides
        group by account_id, day, key_id, price_id, unit, item_names
        having sum(side * calls) <> 0 or sum(side * paid) <> 0
          or ${[1, 2, 3, 4, 5, 6, 7, 8].map((place) => `sum(side * quantities[${place}]) <> 0`).join(" or ")}`,
  },
];

export function listAsked(kind: Scope["kind"]): Invariant[] {
  return invariants.filter(({ subject }) => askedIn[subject].includes(kind));
}

/** Runs one statement, so all invariants are checked in one snapshot. */
export async function listViolations(
  database: Database,
  asked: readonly Invariant[],
  { scope, now }: { scope: Scope; now: Date },
): Promise<Violation[]> {
  const statements = asked.map(
    ({ name, statement }) =>
      `(select '${name}' as invariant, account_id, message from (${statement}) found limit ${violationsMax})`,
  );
  const text = `with ${scopeStatements[scope.kind]},
    parameters as (select $1::text[], $2::bigint, $3::timestamptz, $4::text, $5::text)
    ${statements.join(" union all ")}`;
  const query = CompiledQuery.raw(text, [...listScopeValues(scope, now)]);
  const timeout = scope.kind === "whole" ? wholeTimeout : portionTimeout;
  const { rows } = await inTransaction(database, async (tx) => {
    // The planner cannot estimate a scope's size, and would choose nested loops over large sets. Costs without nested loops
    // make PostgreSQL compile the whole statement (JIT), which takes seconds for a handful of rows.
    await sql`select set_config('statement_timeout', ${timeout}, true), set_config('enable_nestloop', 'off', true),
      set_config('jit', 'off', true)`.execute(tx);
    return await tx.executeQuery<{ invariant: string; account_id: string; message: string }>(query);
  });
  return rows.map(({ account_id: accountId, ...found }) => ({ ...found, accountId }));
}

/** Blocks new spending. Bumps the version, so processes that cache the wallet reload it. */
export async function freezeWallet(database: Database, accountId: string, reason: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update wallets set frozen_at = now(), frozen_reason = ${reason}, version = version + 1
      where account_id = ${accountId} and frozen_at is null`.execute(database);
  return numAffectedRows === 1n;
}

/** Deletes the account's seals, so the next check reads its history again: a violation may predate the seal. */
export async function unfreezeWallet(database: Database, accountId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with seals as (delete from ledger_seals where account_id = ${accountId}),
      sums as (delete from ledger_sealed_sums where account_id = ${accountId})
    update wallets set frozen_at = null, frozen_reason = null, version = version + 1
      where account_id = ${accountId} and frozen_at is not null`.execute(database);
  return numAffectedRows === 1n;
}

export async function findFreeze(database: Database, accountId: string): Promise<{ at: Date; reason: string } | null> {
  const row = await database
    .selectFrom("wallets")
    .select(["frozen_at", "frozen_reason"])
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row?.frozen_at && row.frozen_reason ? { at: row.frozen_at, reason: row.frozen_reason } : null;
}

const frozenShownMax = 5;

/** How many accounts are frozen, and the ids of the last ones. */
export async function countFrozen(database: Database): Promise<{ count: number; accountIds: string[] }> {
  const { rows } = await sql<{ account_id: string; count: number }>`
    select account_id, count(*) over ()::int as count from wallets where frozen_at is not null
      order by frozen_at desc limit ${frozenShownMax}`.execute(database);
  return { count: rows[0]?.count ?? 0, accountIds: rows.map((row) => row.account_id) };
}
