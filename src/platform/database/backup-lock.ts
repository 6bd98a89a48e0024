import { sql } from "kysely";
import type pg from "pg";
import { OperatorError } from "../errors/operator-error.ts";
import { connectForCopy } from "./connect-for-copy.ts";
import type { Database, DatabaseAddress } from "./database.ts";

/**
 * Held by a backup from before it looks at the database until it has every file that it saw there. It ends with its
 * connection, so that a backup that dies keeps nobody from anything.
 */
const backupLock = 7_264_003;

export async function holdBackupLock(address: DatabaseAddress): Promise<{ release(): Promise<void> }> {
  const client: pg.Client = await connectForCopy(address, "sluice-backup-lock");
  // It says nothing while files are copied, however long that takes.
  await client.query("set idle_session_timeout = 0");
  const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [backupLock]);
  if (rows[0]?.taken === true) return { release: () => client.end() };
  await client.end();
  throw new OperatorError("Another backup of this database is running.", "Wait until it is done, and run this again.");
}

/**
 * Whether bytes must stay that no file has any more: a backup may have seen the file. To be asked once the file's end is
 * committed: a backup that begins after the answer does not see it.
 */
export async function isBackupRunning(database: Database): Promise<boolean> {
  const { rows } = await sql<{ shared: boolean }>`
    select pg_try_advisory_xact_lock_shared(${sql.lit(backupLock)}) as shared`.execute(database);
  return rows[0]?.shared !== true;
}
