import { sql } from "kysely";
import type pg from "pg";
import { OperatorError } from "../errors/operator-error.ts";
import type { Database } from "./database.ts";

/**
 * Whether a database is the one that serves, or a copy of it that was restored. A copy may stand beside the living
 * original, so that it spends nothing, sends nothing and deletes nothing until an operator says that it takes over.
 */
export type CopyState = "live" | "restoring" | "unconfirmed";

/** What may follow. A database is live when it is made; one that is being filled begins with `restoring`. */
const nextStates = {
  live: ["unconfirmed"],
  restoring: ["unconfirmed"],
  unconfirmed: ["live"],
} as const satisfies Record<CopyState, readonly CopyState[]>;

export const copyStateTable = "copy_states";

/** The channel on which changes are told. */
export const copyStateChannel = "copy_state";

/** Run with the first migrations, so that nobody ever sees an empty database that looks as if it were to be used. */
export const beginRestoring = `update ${copyStateTable} set state = 'restoring'`;

/** A database from before this table is live. */
export async function readCopyState(database: Database): Promise<CopyState> {
  const { rows } = await sql<{ found: string | null }>`select to_regclass(${copyStateTable})::text as found`.execute(
    database,
  );
  if (rows[0]?.found === null) return "live";
  const { state } = await database.selectFrom("copy_states").select("state").executeTakeFirstOrThrow();
  return state as CopyState;
}

/** Ends a start on a database that is only half there. */
export async function requireWhole(database: Database): Promise<void> {
  if ((await readCopyState(database)) !== "restoring") return;
  throw new OperatorError(
    "This database is half restored: a restore into it was begun and did not end.",
    "Run the same `sluice restore` again, which begins anew; or use another database or data_dir.",
  );
}

/** Notes that the database is a restored copy, and of which backup. */
export async function markUnconfirmed(client: pg.ClientBase, from: string): Promise<void> {
  const { rowCount } = await client.query(
    `update ${copyStateTable} set state = 'unconfirmed', restored_from = $1, restored_at = now(), confirmed_at = null
       where state = any ($2)`,
    [from, listBefore("unconfirmed")],
  );
  if (rowCount !== 1) throw new Error("A copy that is not confirmed was restored into.");
}

/** Whether the database was a copy that waited for this, and now is live. */
export async function confirmCopy(database: Database): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("copy_states")
    .set({ state: "live", confirmed_at: sql`now()` })
    .where("state", "in", listBefore("live"))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

function listBefore(state: CopyState): CopyState[] {
  const states = Object.keys(nextStates) as CopyState[];
  return states.filter((before) => (nextStates[before] as readonly CopyState[]).includes(state));
}
