import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import { createRowType, presentRows } from "../../platform/database/row-arrays.ts";
import type { UpstreamTarget } from "../../providers/upstream-health.ts";
import type { VendorLimit } from "../../providers/vendor-limits.ts";

export type SeenLimit = UpstreamTarget & VendorLimit & { seenAt: Date };

const toBigInt = (count: number | null): bigint | null => (count === null ? null : BigInt(count));

/** The table's columns, in order. */
const limitRow = createRowType<SeenLimit>("vendor_limits", [
  ["provider_id", "text", ({ providerId }) => providerId],
  ["upstream_model", "text", ({ upstreamModel }) => upstreamModel],
  ["key_number", "integer", ({ keyNumber }) => keyNumber],
  ["name", "text", ({ name }) => name],
  ["most", "bigint", ({ most }) => toBigInt(most)],
  ["remaining", "bigint", ({ remaining }) => toBigInt(remaining)],
  ["resets_at", "timestamptz", ({ resetsAt }) => resetsAt],
  ["seen_at", "timestamptz", ({ seenAt }) => seenAt],
]);

/** Leaves rows alone that another process wrote within the last minute. */
export async function putLimits(database: Database, limits: readonly SeenLimit[]): Promise<void> {
  if (limits.length === 0) return;
  await sql`
    insert into vendor_limits select * from unnest(${presentRows(limitRow, limits)}::vendor_limits[])
      on conflict (provider_id, upstream_model, key_number, name) do update
        set most = excluded.most, remaining = excluded.remaining, resets_at = excluded.resets_at, seen_at = excluded.seen_at
        where excluded.seen_at >= vendor_limits.seen_at + interval '50 seconds'`.execute(database);
}

export async function listVendorLimits(database: Database, since: Date): Promise<SeenLimit[]> {
  const rows = await database
    .selectFrom("vendor_limits")
    .selectAll()
    .where("seen_at", ">=", since)
    .orderBy("name")
    .limit(limitsMax)
    .execute();
  return rows.map((row) => ({
    ...{ providerId: row.provider_id, upstreamModel: row.upstream_model, keyNumber: row.key_number, name: row.name },
    ...{ most: toNumber(row.most), remaining: toNumber(row.remaining), resetsAt: row.resets_at, seenAt: row.seen_at },
  }));
}

const limitsMax = 10_000;
const toNumber = (count: bigint | null): number | null => (count === null ? null : Number(count));

export async function deleteOldLimits(database: Database, before: Date): Promise<void> {
  await database.deleteFrom("vendor_limits").where("seen_at", "<", before).execute();
}
