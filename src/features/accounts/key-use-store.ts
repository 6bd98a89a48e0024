import { sql } from "kysely";
import type { KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** Nodes write in any order, so the earliest and the latest count. Sorted, or two nodes could wait for each other. */
export async function upsertKeyUses(database: Database, uses: ReadonlyMap<KeyId, Date>): Promise<void> {
  const sorted = [...uses].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const keyIds = sorted.map(([keyId]) => keyId);
  const moments = sorted.map(([, usedAt]) => usedAt);
  await sql`
    insert into api_key_uses (key_id, first_used_at, last_used_at)
    select key_id, used_at, used_at
    from unnest(${keyIds}::text[], ${moments}::timestamptz[]) as use (key_id, used_at)
    on conflict (key_id) do update set
      first_used_at = least(api_key_uses.first_used_at, excluded.first_used_at),
      last_used_at = greatest(api_key_uses.last_used_at, excluded.last_used_at)
  `.execute(database);
}

/** When these keys were last used, to the minute; one that never was is not among them. */
export async function listKeyUses(database: Database, keyIds: readonly KeyId[]): Promise<Map<KeyId, Date>> {
  if (keyIds.length === 0) return new Map();
  const rows = await database
    .selectFrom("api_key_uses")
    .select(["key_id", "last_used_at"])
    .where("key_id", "in", keyIds)
    .execute();
  // Only keys are noted.
  return new Map(rows.map((row) => [row.key_id as KeyId, row.last_used_at]));
}
