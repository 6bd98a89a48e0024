import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { Unit } from "./ledger-state.ts";

/** What is on hold on all accounts together, in one unit. */
type HoldTotal = { unit: Unit; count: number; amount: bigint };

export async function sumOpenHolds(database: Database): Promise<HoldTotal[]> {
  const { rows } = await sql<HoldTotal>`
    select unit, count(*)::float8 as count, sum(amount)::bigint as amount from holds
      where state = 'open' group by unit`.execute(database);
  return rows;
}
