import { sql } from "kysely";
import type pg from "pg";
import { OperatorError } from "../errors/operator-error.ts";
import { connectForCopy } from "./connect-for-copy.ts";
import type { Database, DatabaseAddress } from "./database.ts";

/**
 * An advisory lock that a backup holds from before its snapshot until it has copied every file in it. It ends with the
 * connection, so a backup that dies releases it.
 */
const backupLock = 7_264_003;

export async function holdBackupLock(address: DatabaseAddress): Promise<{ release(): Promise<void> }> {
  const client: pg.Client = await connectForCopy(address, "sluice-backup-lock");
  // The connection is idle while files are copied.
  await client.query("set idle_session_timeout = 0");
  const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [backupLock]);
  if (rows[0]?.taken === true) return { release: () => client.end() };
  await client.end();
  throw new OperatorError(
    "Another backup of this database is running.",
    "Wait until it has finished, then run this again.",
  );
}

/**
 * While true, bytes of deleted files must stay, because the backup's snapshot may contain the file. Call it after the deletion
 * is committed: a backup that starts later does not see the file.
 */
export async function isBackupRunning(database: Database): Promise<boolean> {
  const { rows } = await sql<{ shared: boolean }>`
    select pg_try_advisory_xact_lock_shared(${sql.lit(backupLock)}) as shared`.execute(database);
  return rows[0]?.shared !== true;
}
