import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Cause, Unit } from "../ledger/index.ts";

/** A hold of unfinished work. */
export type OpenHold = {
  id: string;
  amount: bigint;
  unit: Unit;
  keyId: string | null;
  cause: Cause;
  /** Set for tasks; a call's model is stored with its charge. */
  model: string | null;
  openedAt: Date;
  expiresAt: Date;
};

/** Newest first. Reads the ledger's holds and the tasks. */
export async function listOpenHolds(
  database: Database,
  accountId: AccountId,
  { after, limit }: { after: string | null; limit: number },
): Promise<OpenHold[]> {
  const { rows } = await sql<HoldRow>`
    select hold.id, hold.amount, hold.unit, hold.key_id, hold.cause_kind, hold.cause_id, task.model, hold.opened_at,
        hold.expires_at
      from holds hold
        left join tasks task on hold.cause_kind = 'task' and task.id = hold.cause_id
          and task.account_id = hold.account_id
      where hold.account_id = ${accountId} and hold.state = 'open' and (${after}::text is null or hold.id < ${after})
      order by hold.id desc limit ${limit}`.execute(database);
  return rows.map(({ id, amount, unit, model, ...row }) => ({
    ...{ id, amount, unit, model },
    keyId: row.key_id,
    cause: { kind: row.cause_kind, id: row.cause_id },
    openedAt: row.opened_at,
    expiresAt: row.expires_at,
  }));
}

type HoldRow = {
  id: string;
  amount: bigint;
  unit: Unit;
  key_id: string | null;
  cause_kind: Cause["kind"];
  cause_id: string;
  model: string | null;
  opened_at: Date;
  expires_at: Date;
};
