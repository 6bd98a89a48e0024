import { sql } from "kysely";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";

export async function hasPostings(database: Database): Promise<boolean> {
  return (await database.selectFrom("postings").select("number").limit(1).executeTakeFirst()) !== undefined;
}

/** The ledger's currency: the given one where none is written, or where it may be replaced. */
export async function writeCurrency(
  tx: Database,
  currency: string,
  { mayReplace }: { mayReplace: boolean },
): Promise<string> {
  await sql`insert into ledger_currencies (currency) values (${currency})
    on conflict (only_one) do update set currency = excluded.currency where ${mayReplace}`.execute(tx);
  const row = await tx.selectFrom("ledger_currencies").select("currency").executeTakeFirst();
  invariant(row !== undefined, "the ledger has no currency");
  return row.currency;
}
