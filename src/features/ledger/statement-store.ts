import { sql } from "kysely";
import { type Bill, computeCharge } from "../../lib/bill.ts";
import type { AccountId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { withoutCosts } from "../../lib/upstream-cost.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Bucket, Cause, PostingKind, Unit } from "./ledger-state.ts";

/** A line of an account's statement. */
export type StatementEntry = {
  number: bigint;
  transactionId: string;
  /** A transaction has one leg per bucket. */
  leg: number;
  createdAt: Date;
  kind: PostingKind;
  unit: Unit;
  /** The change of the account's balance. For a loss, the lost amount, which does not change the balance. */
  amount: bigint;
  /** The account's balance of this unit after the entry. */
  balance: bigint;
  bucket: { id: string; kind: Bucket["kind"]; expiresAt: Date | null; balance: bigint } | null;
  /** The refunded charge. */
  refundOf: string | null;
  cause: Cause;
  /** The operator who booked it, and the reason. */
  operator: { actor: string; reason: string } | null;
  /** The bill of a charge or loss, with the price at the time. */
  bill: (Bill & { cost: bigint; paid: bigint; lost: bigint }) | null;
};

/** `null` is unbounded. */
export type StatementRange = { from: Date | null; to: Date | null };

export type StatementPage = StatementRange & {
  order: "newest-first" | "oldest-first";
  limit: number;
  /** The number of the previous page's last entry. */
  after: bigint | null;
  /** `movements` excludes losses, which don't change the account's balance. */
  include: "everything" | "movements";
};

/** The page size of long reads. */
const entriesAtOnce = 10_000;

/** The newest entries of a period, oldest first. Balances include everything before it. */
export async function listStatement(
  database: Database,
  accountId: AccountId,
  { limit, ...range }: StatementRange & { limit: number },
): Promise<StatementEntry[]> {
  const pages: StatementEntry[][] = [];
  for (let left = limit; left > 0; left -= entriesAtOnce) {
    const part = left < entriesAtOnce ? left : entriesAtOnce;
    const after = pages.at(-1)?.at(-1)?.number ?? null;
    const page = { ...range, order: "newest-first", limit: part, after, include: "everything" } as const;
    const entries = await listStatementPage(database, accountId, page);
    pages.push(entries);
    if (entries.length < part) break;
  }
  return pages.flat().toReversed();
}

/** Reads only the page and each bucket's balance before it, however long the history is. */
export async function listStatementPage(
  database: Database,
  accountId: AccountId,
  page: StatementPage,
): Promise<StatementEntry[]> {
  const rows = await listRows(database, accountId, page);
  const [first] = rows;
  if (first === undefined) return [];
  // The ledger is append-only, so earlier balances cannot change between the two queries.
  const before = await findBalancesBefore(database, accountId, first.number);
  const entries = rows.map((row) => toEntry(row, (before.get(row.unit) ?? 0n) + row.moved));
  return page.order === "oldest-first" ? entries : entries.toReversed();
}

/** Counts the entries of a period, up to a limit. */
export async function countStatement(
  database: Database,
  accountId: AccountId,
  { limit, ...range }: StatementRange & { limit: number },
): Promise<bigint> {
  const span = await findSpan(database, accountId, range);
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from (
      select from postings where ${matchRange(accountId, range, span)} and bucket_id is not null limit ${limit}
    ) as counted`.execute(database);
  return rows[0]?.count ?? 0n;
}

/** `null` if the account has no such entry. */
export async function findEntryNumber(
  database: Database,
  accountId: AccountId,
  { transactionId, leg }: { transactionId: string; leg: number },
): Promise<bigint | null> {
  const row = await database
    .selectFrom("postings")
    .select("number")
    .where("id", "=", transactionId)
    .where("leg", "=", leg)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return row?.number ?? null;
}

/** Oldest first, each with the running sum from the start of the page. */
async function listRows(database: Database, accountId: AccountId, page: StatementPage): Promise<StatementRow[]> {
  const { order, limit, after, include } = page;
  const span = await findSpan(database, accountId, page);
  const isOldestFirst = order === "oldest-first";
  const beyond = isOldestFirst ? sql`number > ${after}` : sql`number < ${after}`;
  const { rows } = await sql<StatementRow>`
    with page as materialized (
      select number from postings
        where ${matchRange(accountId, page, span)}
          and (${after}::bigint is null or ${beyond}) and (${include === "everything"} or bucket_id is not null)
        order by number ${isOldestFirst ? sql`asc` : sql`desc`} limit ${limit}),
      -- After a clock went back, entries outside the period may lie between those of the page.
      entries as (
        select *, sum(change) over (partition by unit order by number) as moved from (
          select *, case when bucket_id is null then 0 when credit = bucket_id then amount else -amount end as change
            from postings where account_id = ${accountId}
              and number between (select min(number) from page) and (select max(number) from page)) as changes)
    select entry.number, entry.id, entry.leg, entry.created_at, entry.kind, entry.unit, entry.amount, entry.change,
        entry.moved::bigint as moved, entry.bucket_id, bucket.kind as bucket_kind,
        bucket.expires_at as bucket_expires_at, entry.balance_after, entry.refund_of, entry.cause_kind, entry.cause_id,
        action.actor, action.reason, charge.price_id, charge.item_names, charge.item_quantities, charge.item_rates_nano,
        charge.rates_per, charge.minimum_nano, charge.quota_units, charge.paid, charge.lost
      from page join entries entry on entry.number = page.number
        left join buckets bucket on bucket.id = entry.bucket_id
        left join operator_actions action on entry.cause_kind = 'operator' and action.id = entry.cause_id
        left join charges charge on entry.kind in ('charge', 'loss') and charge.id = entry.id
      order by entry.number`.execute(database);
  return rows;
}

/** A range of entry numbers that contains the period. */
type Span = { first: bigint | null; end: bigint | null };

function matchRange(accountId: AccountId, { from, to }: StatementRange, { first, end }: Span) {
  return sql`account_id = ${accountId}
    and (${first}::bigint is null or number >= ${first}) and (${end}::bigint is null or number < ${end})
    and (${from}::timestamptz is null or created_at >= ${from}) and (${to}::timestamptz is null or created_at < ${to})`;
}

/** The maximum clock difference between gateways, by which entries may be out of order. */
export const clockDifferenceMs = 60 * 60 * 1000;

/** Finds entries by number: an index on their time would cost a write with every charge. */
async function findSpan(database: Database, accountId: AccountId, { from, to }: StatementRange): Promise<Span> {
  const find = (time: Date) => findFirstNumberSince(database, accountId, time);
  return {
    first: from === null ? null : await find(new Date(from.getTime() - clockDifferenceMs)),
    end: to === null ? null : await find(new Date(to.getTime() + clockDifferenceMs)),
  };
}

/** Binary search over entry numbers: about thirty index lookups. */
export async function findFirstNumberSince(
  database: Database,
  accountId: AccountId,
  time: Date,
): Promise<bigint | null> {
  const { rows } = await sql<{ low: bigint }>`
    with recursive search (low, high) as (
      select min(number), max(number) + 1 from postings where account_id = ${accountId}
      union all
      select case when found.created_at < ${time} then found.number + 1 else low end,
          case when found.created_at < ${time} then high else middle end
        from search cross join lateral (select low + (high - low) / 2 as middle) as middles
          cross join lateral (
            select number, created_at from postings
              where account_id = ${accountId} and number >= middle order by number limit 1) as found
        where low < high)
    select low from search where low = high`.execute(database);
  return rows[0]?.low ?? null;
}

/**
 * The balance of each unit before an entry. A bucket without later entries has its current balance. For the others, a binary
 * search finds the last entry before it: a bucket's entries are numbered without gaps.
 */
async function findBalancesBefore(
  database: Database,
  accountId: AccountId,
  number: bigint,
): Promise<ReadonlyMap<Unit, bigint>> {
  const { rows } = await sql<{ unit: Unit; balance: bigint }>`
    select bucket.unit, sum(case when latest.number < ${number} then bucket.posted else coalesce((
        with recursive search (low, high) as (
          select 0::bigint, bucket.entry_count - 1
          union all
          select case when found.number < ${number} then middle else low end,
              case when found.number < ${number} then high else middle - 1 end
            from search cross join lateral (select (low + high + 1) / 2 as middle) as middles
              join postings found on found.bucket_id = bucket.id and found.entry_number = middle
            where low < high)
        select entry.balance_after from search
          join postings entry on entry.bucket_id = bucket.id and entry.entry_number = search.low
          where search.low = search.high), 0) end)::bigint as balance
      from buckets bucket
        join postings latest on latest.bucket_id = bucket.id and latest.entry_number = bucket.entry_count
      where bucket.account_id = ${accountId} and (bucket.is_open or latest.number >= ${number})
      group by bucket.unit`.execute(database);
  return new Map(rows.map(({ unit, balance }) => [unit, balance]));
}

/** A charge's bill; `null` for other entries. */
export type BillColumns = {
  price_id: string;
  item_names: string[] | null;
  item_quantities: bigint[] | null;
  item_rates_nano: bigint[] | null;
  rates_per: bigint | null;
  minimum_nano: bigint | null;
  quota_units: bigint | null;
};

/** Without the operator's costs: bills are shown to customers. */
export function toBill(row: BillColumns): Bill {
  return {
    priceId: row.price_id,
    items: withoutCosts(
      (row.item_names ?? []).map((name, index) => ({
        name,
        quantity: row.item_quantities?.[index] ?? 0n,
        rate: nano(row.item_rates_nano?.[index] ?? 0n),
      })),
    ),
    per: row.rates_per ?? 1n,
    minimum: nano(row.minimum_nano ?? 0n),
    quotaUnits: row.quota_units ?? 0n,
  };
}

type StatementRow = Omit<BillColumns, "price_id"> & {
  number: bigint;
  id: string;
  leg: number;
  created_at: Date;
  kind: PostingKind;
  unit: Unit;
  amount: bigint;
  change: bigint;
  moved: bigint;
  bucket_id: string | null;
  bucket_kind: Bucket["kind"] | null;
  bucket_expires_at: Date | null;
  balance_after: bigint | null;
  refund_of: string | null;
  cause_kind: Cause["kind"];
  cause_id: string;
  actor: string | null;
  reason: string | null;
  price_id: string | null;
  paid: bigint | null;
  lost: bigint | null;
};

function toEntry(row: StatementRow, balance: bigint): StatementEntry {
  return {
    number: row.number,
    transactionId: row.id,
    leg: row.leg,
    createdAt: row.created_at,
    kind: row.kind,
    unit: row.unit,
    amount: row.kind === "loss" ? row.amount : row.change,
    balance,
    bucket:
      row.bucket_id === null || row.bucket_kind === null || row.balance_after === null
        ? null
        : { id: row.bucket_id, kind: row.bucket_kind, expiresAt: row.bucket_expires_at, balance: row.balance_after },
    refundOf: row.refund_of,
    cause: { kind: row.cause_kind, id: row.cause_id },
    operator: row.actor === null || row.reason === null ? null : { actor: row.actor, reason: row.reason },
    bill: toPaidBill(row),
  };
}

function toPaidBill(row: StatementRow): StatementEntry["bill"] {
  if (row.price_id === null) return null;
  const bill = toBill({ ...row, price_id: row.price_id });
  const cost = row.unit === "money" ? computeCharge(bill) : bill.quotaUnits;
  return { ...bill, cost, paid: row.paid ?? 0n, lost: row.lost ?? 0n };
}
