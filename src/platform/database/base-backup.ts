import { connectForCopy } from "./connect-for-copy.ts";
import { copyOut } from "./copy-stream.ts";
import type { DatabaseAddress } from "./database.ts";

/** A copy of a running server's files. With the WAL from `startLog` on it can be restored to any later moment. */
export type BaseBackup = {
  /** The first WAL segment that a restore needs. */
  startLog: string;
  /** The server's time when the copy was complete: the earliest moment that can be restored. */
  endedAt: Date;
  serverVersion: string;
};

const kinds = { archive: "n".charCodeAt(0), content: "d".charCodeAt(0) };

/** Streams the files of an embedded server to `write` as one tar archive. */
export async function copyServer(
  address: DatabaseAddress,
  write: (tar: AsyncIterable<Buffer>) => Promise<void>,
): Promise<BaseBackup> {
  const replication = await connectForCopy(address, "sluice-backup", { replication: "true" });
  const client = await connectForCopy(address, "sluice-backup");
  let startLsn: string | null = null;
  let archiveCount = 0;

  function pick(message: Buffer): Buffer | null {
    if (message[0] === kinds.archive) archiveCount += 1;
    // Each tablespace would be a separate archive.
    if (archiveCount > 1) throw new Error("The server has tablespaces, which Sluice never creates.");
    return message[0] === kinds.content ? message.subarray(1) : null;
  }

  try {
    const statement = "BASE_BACKUP (LABEL 'sluice', CHECKPOINT 'fast', MANIFEST 'no', WAL false)";
    const onRow = ([lsn]: readonly (string | null)[]): void => {
      startLsn ??= lsn ?? null;
    };
    await write(copyOut(replication, statement, { onRow, pick }));
    const { rows } = await client.query(
      "select pg_walfile_name($1::pg_lsn) as start_log, now() as ended_at, current_setting('server_version') as version",
      [startLsn],
    );
    return { startLog: rows[0].start_log, endedAt: rows[0].ended_at, serverVersion: rows[0].version };
  } finally {
    await Promise.all([replication.end(), client.end()]);
  }
}
