import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";

/** The cost of calls that have no charge to be stored with. */
export type UnchargedCost = {
  accountId: AccountId;
  modelId: string;
  providerId: string;
  upstreamModel: string;
  amount: Nano;
};

export type UnchargedRow = UnchargedCost & { id: string; createdAt: Date; calls: number };

/** Idempotent: a row that exists is kept. */
export async function insertUnchargedCosts(database: Database, rows: readonly UnchargedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into uncharged_costs (id, created_at, account_id, model_id, provider_id, upstream_model, calls, cost_nano)
      select * from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ createdAt }) => createdAt)}::timestamptz[],
        ${rows.map(({ accountId }) => accountId)}::text[], ${rows.map(({ modelId }) => modelId)}::text[],
        ${rows.map(({ providerId }) => providerId)}::text[], ${rows.map(({ upstreamModel }) => upstreamModel)}::text[],
        ${rows.map(({ calls }) => calls)}::integer[], ${rows.map(({ amount }) => amount)}::bigint[])
      on conflict (id) do nothing`.execute(database);
}

export async function sumUnchargedCosts(database: Database, since: Date): Promise<Nano> {
  const { rows } = await sql<{ cost: string }>`
    select coalesce(sum(cost_nano), 0)::text as cost from uncharged_costs where created_at >= ${since}`.execute(
    database,
  );
  return nano(BigInt(rows[0]?.cost ?? "0"));
}
