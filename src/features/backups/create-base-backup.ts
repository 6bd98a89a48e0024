import { Readable } from "node:stream";
import { fingerprintSecret } from "../../platform/config/master-key.ts";
import { holdBackupLock } from "../../platform/database/backup-lock.ts";
import { copyServer } from "../../platform/database/base-backup.ts";
import { openSnapshot } from "../../platform/database/database-snapshot.ts";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";
import { readFileList } from "./backup-store.ts";
import { type Base, baseFolder } from "./base-manifest.ts";
import { copyFile, forEachFile, type ListedFile, parseListedFiles, toPart } from "./copy-files.ts";
import type { BackupDependencies, KeptSecret } from "./create-backup.ts";
import type { Part } from "./manifest.ts";
import { type PartWriter, writeCompressed, writePart } from "./part-stream.ts";

type BaseDependencies = Omit<BackupDependencies, "place"> & { archive: ByteStore };

/**
 * Copies the embedded server's data directory into the WAL archive, and the callers' files that are not there yet. The
 * manifest is written last.
 */
export async function createBaseBackup(
  dependencies: BaseDependencies,
  { secret, includesSecret }: KeptSecret,
): Promise<Base & { files: { count: number; bytes: number } }> {
  const { address, archive, randomBytes, onProgress, signal } = dependencies;
  const lock = await holdBackupLock(address);
  try {
    const id = Buffer.from(randomBytes(6)).toString("hex");
    const writer: PartWriter = { place: archive, folder: baseFolder, signal };
    const copied = await archiveFiles(dependencies);
    onProgress("database: the server's files");
    const parts: Part[] = [];
    const { startLog, endedAt, serverVersion } = await copyServer(address, async (tar) => {
      parts.push(await writeCompressed(writer, `${id}/server.tar.gz`, tar));
    });
    const [server] = parts;
    if (server === undefined) throw new Error("The base backup is empty.");
    const base: Base = {
      ...{ format: 1, id, taken_at: endedAt.toISOString(), server_version: serverVersion },
      ...{ start_log: startLog, server },
      secrets:
        secret === null || !includesSecret
          ? null
          : await writePart(writer, `${id}/secret.key`, Readable.from([Buffer.from(secret)])),
      secret_fingerprint: secret === null ? null : fingerprintSecret(secret),
    };
    await writePart(writer, `${id}.json`, Readable.from([Buffer.from(JSON.stringify(base, null, 1))]));
    return { ...base, files: copied };
  } finally {
    await lock.release();
  }
}

/** Copies files from before the archive existed. Later ones are queued, and copied by the log shipper. */
async function archiveFiles(dependencies: BaseDependencies): Promise<{ count: number; bytes: number }> {
  const { address, files, archive, onProgress, signal } = dependencies;
  const writer: PartWriter = { place: archive, folder: "", signal };
  const snapshot = await openSnapshot(address);
  let count = 0;
  try {
    return await forEachFile(parseListedFiles(readFileList(snapshot)), async (file) => {
      signal.throwIfAborted();
      if (!(await isThere(archive, file))) await copyFile(files, writer, file);
      count += 1;
      onProgress(`files: ${count}`);
    });
  } finally {
    await snapshot.close();
  }
}

/** Writes are atomic, so an existing key is complete. */
async function isThere(archive: ByteStore, file: ListedFile): Promise<boolean> {
  try {
    (await archive.open(toPart(file).key)).destroy();
    return true;
  } catch (error) {
    if (error instanceof MissingBytesError) return false;
    throw error;
  }
}
