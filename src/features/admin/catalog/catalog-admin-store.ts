import { sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

export type CatalogVersion = { number: number; appliedAt: Date; by: string | null; reason: string | null };

/** The subject of a version in the audit log. */
export function nameVersion(number: number): string {
  return `catalog_${number}`;
}

/** Newest first, with who applied each and why, from the audit log. */
export async function listCatalogVersions(
  database: Database,
  { before, limit }: { before: number | null; limit: number },
): Promise<CatalogVersion[]> {
  const { rows } = await sql<{ number: number; applied_at: Date; actor_name: string | null; reason: string | null }>`
    select version.number, version.applied_at, entry.actor_name, entry.reason
      from (select number, applied_at from catalog_versions where ${before}::integer is null or number < ${before}
        order by number desc limit ${limit}) version
      left join audit_entries entry on entry.action = 'catalog.applied' and entry.subject = 'catalog_' || version.number
      order by version.number desc`.execute(database);
  return rows.map((row) => ({
    ...{ number: row.number, appliedAt: row.applied_at, by: row.actor_name, reason: row.reason },
  }));
}

/** Those of the ids that exist. */
export async function listKnownAccounts(database: Database, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await database.selectFrom("accounts").select("id").where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** The plan of every account. */
export async function listAccountPlans(database: Database): Promise<Map<AccountId, string | null>> {
  const rows = await database.selectFrom("accounts").select(["id", "plan_id"]).execute();
  return new Map(rows.map((row) => [row.id as AccountId, row.plan_id]));
}
