import { CompiledQuery, sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { holdOfPosting, reversalName, signedAmount, spendingName } from "./check-scope-store.ts";

/** An account and the approximate number of entries to read. */
export type ListedAccount = { accountId: AccountId; entries: bigint };

/** The next accounts in id order, with the number of their entries: all or unsealed ones. */
export async function listAccountsToCheck(
  database: Database,
  { after, limit, entries }: { after: string; limit: number; entries: "all" | "new" },
): Promise<ListedAccount[]> {
  const { rows } = await sql<{ account_id: AccountId; entries: bigint }>`
    select account_id, case when seal.wallet_version is distinct from version or ${entries === "all"} then
        (select coalesce(sum(entry_count), 0) from buckets where buckets.account_id = wallet.account_id)
        - (select coalesce(sum(entries), 0) from ledger_sealed_sums sums
          where sums.account_id = wallet.account_id and about = 'bucket' and ${entries === "new"})
        else 0 end::bigint as entries
      from (select account_id, version from wallets where account_id > ${after} order by account_id limit ${limit}) wallet
        left join ledger_seals seal using (account_id)
      order by account_id`.execute(database);
  return rows.map((row) => ({ accountId: row.account_id, entries: row.entries }));
}

/** The postings of an account that a check may seal: after the current seal, up to a number. */
export type Unsealed = { accountId: AccountId; sealedNumber: bigint; upToNumber: bigint; walletVersion: bigint };

type UnsealedRow = { account_id: AccountId; sealed_number: bigint; up_to_number: bigint; wallet_version: bigint };

/** All unsealed postings of the accounts that changed since their seals. */
export async function listUnsealed(database: Database, accountIds: readonly AccountId[]): Promise<Unsealed[]> {
  const { rows } = await sql<UnsealedRow>`
    select account_id, coalesce(seal.number, 0) as sealed_number, version as wallet_version,
        coalesce((select max(number) from postings where postings.account_id = wallets.account_id), 0) as up_to_number
      from wallets left join ledger_seals seal using (account_id)
      where account_id = any(${accountIds}) and seal.wallet_version is distinct from version`.execute(database);
  return rows.map(toUnsealed);
}

/** About `entriesMax` entries after the seal, ending between transactions; `null` if there are fewer, or one transaction has them all. */
export async function findUnsealedPart(
  database: Database,
  { accountId, entriesMax }: { accountId: AccountId; entriesMax: number },
): Promise<Unsealed | null> {
  const { rows } = await sql<UnsealedRow>`
    with seal as (select coalesce(max(number), 0) as number from ledger_seals where account_id = ${accountId}),
    next as (
      select number, leg from postings where account_id = ${accountId} and number > (select number from seal)
        order by number limit ${entriesMax})
    -- Wallet versions are never negative, so -1 marks the seal as partial.
    select ${accountId} as account_id, seal.number as sealed_number, -1::bigint as wallet_version, up_to_number
      from seal, (select max(number) filter (where leg = 0) - 1 as up_to_number, count(*) as entries from next) found
      where entries = ${entriesMax} and up_to_number > seal.number`.execute(database);
  const [row] = rows;
  return row === undefined ? null : toUnsealed(row);
}

function toUnsealed(row: UnsealedRow): Unsealed {
  return {
    accountId: row.account_id,
    sealedNumber: row.sealed_number,
    upToNumber: row.up_to_number,
    walletVersion: row.wallet_version,
  };
}

export async function listSealedAccounts(database: Database, accountIds: readonly AccountId[]): Promise<Set<string>> {
  const { rows } = await sql<{ account_id: string }>`
    select account_id from ledger_seals where account_id = any(${accountIds})`.execute(database);
  return new Set(rows.map((row) => row.account_id));
}

/** Seals checked postings, except those of accounts that a concurrent check has sealed. Requires a transaction. */
export async function sealAccounts(tx: Database, checked: readonly Unsealed[]): Promise<void> {
  const columns = [
    checked.map(({ accountId }) => accountId),
    checked.map(({ sealedNumber }) => String(sealedNumber)),
    checked.map(({ upToNumber }) => String(upToNumber)),
    checked.map(({ walletVersion }) => String(walletVersion)),
  ];
  await sql`
    insert into ledger_seals (account_id, number, wallet_version, sealed_at)
      select account_id, 0, -1, clock_timestamp() from unnest(${columns[0]}::text[]) as checked (account_id)
      order by account_id on conflict do nothing`.execute(tx);
  await sql`select 1 from ledger_seals where account_id = any(${columns[0]}) order by account_id for update`.execute(
    tx,
  );
  await tx.executeQuery(CompiledQuery.raw(addSumsStatement, columns));
}

// One statement moves the seals and adds the postings between to the sums.
const addSumsStatement = `
  with moved as materialized (
    select checked.* from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
        as checked (account_id, sealed_number, up_to_number, wallet_version)
      join ledger_seals seal using (account_id) where seal.number = checked.sealed_number),
  posting as materialized (
    select found.* from moved cross join lateral (
      select * from postings where account_id = moved.account_id and number > moved.sealed_number
        and number <= moved.up_to_number offset 0) found),
  added as (
    select account_id, 'bucket' as about, bucket_id as name, ${signedAmount} as amount from posting where bucket_id is not null
    union all
    select account_id, 'unit', unit, ${signedAmount} from posting where bucket_id is not null
    union all
    select account_id, 'code', '', amount from posting where debit = 'funding:code'
    union all
    select account_id, 'reversal', ${reversalName}, -(${signedAmount}) from posting where kind = 'reversal'
    union all
    -- Count each hold once, by its settlement's first leg. Skip accounts without key spending.
    select hold.account_id, 'spending', ${spendingName("coalesce(key.lineage_id, hold.key_id)", "budget_starts_at")}, settled
      from posting join holds hold on hold.id = ${holdOfPosting} left join api_keys key on key.id = hold.key_id
      where posting.kind in ('charge', 'loss') and posting.leg = 0 and hold.budget_starts_at is not null
        and posting.account_id = any (array (select account_id from key_spending where account_id = any ($1)))),
  summed as (
    insert into ledger_sealed_sums as kept (account_id, about, name, entries, total)
      select account_id, about, name, count(*), sum(amount) from added group by 1, 2, 3
      on conflict (account_id, about, name) do update
        set entries = kept.entries + excluded.entries, total = kept.total + excluded.total)
  update ledger_seals seal
    set number = moved.up_to_number, wallet_version = moved.wallet_version, sealed_at = clock_timestamp()
    from moved where seal.account_id = moved.account_id`;

/** Deletes the seals, so everything is checked again. Requires a transaction. */
export async function unsealAccounts(tx: Database, accountIds: readonly AccountId[]): Promise<void> {
  await sql`delete from ledger_seals where account_id = any(${accountIds})`.execute(tx);
  await sql`delete from ledger_sealed_sums where account_id = any(${accountIds})`.execute(tx);
}

/** The last of the next `limit` holds in id order; `null` if there are none. */
export async function findLastHold(
  database: Database,
  { after, limit }: { after: string; limit: number },
): Promise<{ id: string; count: number } | null> {
  const { rows } = await sql<{ id: string | null; count: number }>`
    select max(id) as id, count(*)::integer as count
      from (select id from holds where id > ${after} order by id limit ${limit}) next`.execute(database);
  const [row] = rows;
  return row === undefined || row.id === null ? null : { id: row.id, count: row.count };
}
