import { sql } from "kysely";
import type pg from "pg";
import { OperatorError } from "../errors/operator-error.ts";
import type { Database } from "./database.ts";

/**
 * Whether a database serves, or is a restored copy. The original may still be running, so a copy spends, sends and deletes
 * nothing until an operator confirms it.
 */
export type CopyState = "live" | "restoring" | "unconfirmed";

/** What may follow. A new database is `live`, one that a restore fills `restoring`. */
const nextStates = {
  live: ["unconfirmed"],
  restoring: ["unconfirmed"],
  unconfirmed: ["live"],
} as const satisfies Record<CopyState, readonly CopyState[]>;

export const copyStateTable = "copy_states";

/** Of `pg_notify`. */
export const copyStateChannel = "copy_state";

/** Runs in the transaction that creates the schema, so that a gateway never starts on an empty restored database. */
export const beginRestoring = `update ${copyStateTable} set state = 'restoring'`;

/** A database without a schema counts as live. */
export async function readCopyState(database: Database): Promise<CopyState> {
  const { rows } = await sql<{ found: string | null }>`select to_regclass(${copyStateTable})::text as found`.execute(
    database,
  );
  if (rows[0]?.found === null) return "live";
  const { state } = await database.selectFrom("copy_states").select("state").executeTakeFirstOrThrow();
  return state as CopyState;
}

export async function requireWhole(database: Database): Promise<void> {
  if ((await readCopyState(database)) !== "restoring") return;
  throw new OperatorError(
    "This database is half restored: a restore into it did not finish.",
    "Run the same `sluice restore` again, which starts over, or use another database or data_dir.",
  );
}

export async function markUnconfirmed(client: pg.ClientBase, from: string): Promise<void> {
  const { rowCount } = await client.query(
    `update ${copyStateTable} set state = 'unconfirmed', restored_from = $1, restored_at = now(), confirmed_at = null
       where state = any ($2)`,
    [from, listBefore("unconfirmed")],
  );
  if (rowCount !== 1) throw new Error("The target of a restore is an unconfirmed copy.");
}

/** Returns false if the database was not an unconfirmed copy. */
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
