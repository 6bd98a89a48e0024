import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { VendorBalance } from "../../providers/vendor-balance.ts";

export type StoredBalance = {
  providerId: string;
  keyNumber: number;
  /** The last one that the vendor stated; `null` if it never did. */
  balance: (VendorBalance & { readAt: Date }) | null;
  askedAt: Date;
  /** Why the last answer had no balance. */
  failure: string | null;
};

export async function listVendorBalances(database: Database): Promise<StoredBalance[]> {
  const rows = await database
    .selectFrom("vendor_balances")
    .selectAll()
    .orderBy("provider_id")
    .orderBy("key_number")
    .execute();
  return rows.map(({ balance_nano: amountNano, currency, read_at: readAt, ...row }) => ({
    ...{ providerId: row.provider_id, keyNumber: row.key_number, askedAt: row.asked_at, failure: row.failure },
    balance: amountNano === null || currency === null || readAt === null ? null : { amountNano, currency, readAt },
  }));
}

type Asked = { providerId: string; keyNumber: number; askedAt: Date };

/** A failure keeps the last balance. */
export async function putVendorBalance(
  database: Database,
  { providerId, keyNumber, askedAt }: Asked,
  outcome: VendorBalance | { failure: string },
): Promise<void> {
  const [balance, failure] = "failure" in outcome ? [null, outcome.failure] : [outcome, null];
  await sql`
    insert into vendor_balances (provider_id, key_number, balance_nano, currency, read_at, asked_at, failure)
      values (${providerId}, ${keyNumber}, ${balance?.amountNano ?? null}, ${balance?.currency ?? null},
        ${balance === null ? null : askedAt}, ${askedAt}, ${failure})
      on conflict (provider_id, key_number) do update
        set balance_nano = coalesce(excluded.balance_nano, vendor_balances.balance_nano),
          currency = coalesce(excluded.currency, vendor_balances.currency),
          read_at = coalesce(excluded.read_at, vendor_balances.read_at),
          asked_at = excluded.asked_at, failure = excluded.failure`.execute(database);
}

/** Forgets keys that the catalog no longer has. */
export async function keepVendorBalances(
  database: Database,
  kept: readonly { providerId: string; keyNumber: number }[],
): Promise<void> {
  await sql`
    delete from vendor_balances where (provider_id, key_number) not in (
      select * from unnest(${kept.map(({ providerId }) => providerId)}::text[],
        ${kept.map(({ keyNumber }) => keyNumber)}::integer[]))`.execute(database);
}
