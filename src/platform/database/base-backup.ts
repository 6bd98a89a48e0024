import { connectForCopy } from "./connect-for-copy.ts";
import { copyOut } from "./copy-stream.ts";
import type { DatabaseAddress } from "./database.ts";

/** The files of a server while it runs; together with the log from `startLog` on they become any later moment. */
export type BaseBackup = {
  /** The first segment of the log that is needed. */
  startLog: string;
  /** The server's time when the copy was whole: the first moment that can be restored. */
  endedAt: Date;
  serverVersion: string;
};

const kinds = { archive: "n".charCodeAt(0), content: "d".charCodeAt(0) };

/** Copies the files of an embedded server as one tar archive, which `write` takes as it comes. */
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
    // Each tablespace would be an archive of its own, and an embedded server has none.
    if (archiveCount > 1) throw new Error("The server has tablespaces, which Sluice never makes.");
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
