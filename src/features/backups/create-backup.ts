import { Readable } from "node:stream";
import { fingerprintSecret } from "../../platform/config/master-key.ts";
import { holdBackupLock } from "../../platform/database/backup-lock.ts";
import type { DatabaseAddress } from "../../platform/database/database.ts";
import { type DatabaseSnapshot, openSnapshot } from "../../platform/database/database-snapshot.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { readFileList } from "./backup-store.ts";
import { copyFile, forEachFile, readListedFiles } from "./copy-files.ts";
import { type Manifest, manifestName } from "./manifest.ts";
import { type PartWriter, writePart, writeParts } from "./part-stream.ts";

export type BackupDependencies = {
  address: DatabaseAddress;
  /** The gateway's file storage. */
  files: ByteStore;
  /** The destination. */
  place: ByteStore;
  randomBytes: (count: number) => Uint8Array;
  onProgress(sentence: string): void;
  signal: AbortSignal;
};

export type KeptSecret = {
  /** The key that encrypts the gateway's secrets; `null` if there is none yet. */
  secret: string | null;
  /** Whether the backup contains the key. */
  includesSecret: boolean;
};

type DatabasePart = Omit<Manifest, "files" | "secrets" | "secret_fingerprint"> & {
  files: { list: Manifest["files"]["list"] };
};

/**
 * Copies a snapshot of the database, then every file in it. Files never change and none is deleted during a backup
 * (`isBackupRunning`), so both are of the same moment. The manifest is written last: an interrupted backup has none.
 */
export async function createBackup(
  dependencies: BackupDependencies,
  { secret, includesSecret }: KeptSecret,
): Promise<Manifest> {
  const { address, place, onProgress, signal } = dependencies;
  const lock = await holdBackupLock(address);
  try {
    const copied = await copyDatabase(dependencies);
    const writer: PartWriter = { place, folder: copied.id, signal };
    const files = await copyFiles(dependencies, writer, copied.files.list);
    const manifest: Manifest = {
      ...copied,
      files: { ...copied.files, ...files },
      secrets:
        secret === null || !includesSecret
          ? null
          : await writePart(writer, "secret.key", Readable.from([Buffer.from(secret)])),
      secret_fingerprint: secret === null ? null : fingerprintSecret(secret),
    };
    await writePart(writer, manifestName, Readable.from([Buffer.from(JSON.stringify(manifest, null, 1))]));
    onProgress(`${copied.id} is complete`);
    return manifest;
  } finally {
    await lock.release();
  }
}

async function copyDatabase(dependencies: BackupDependencies): Promise<DatabasePart> {
  const { address, place, randomBytes, onProgress, signal } = dependencies;
  const snapshot = await openSnapshot(address);
  try {
    const id = createBackupId(snapshot, randomBytes);
    const writer: PartWriter = { place, folder: id, signal };
    const { schema, partitions } = snapshot;
    const tables: Manifest["tables"] = [];
    for (const table of snapshot.tables) {
      signal.throwIfAborted();
      onProgress(`database: ${table.name}, ${tables.length + 1} of ${snapshot.tables.length} tables`);
      const parts = await writeParts(writer, `database/${table.name}`, snapshot.readTable(table));
      tables.push({ name: table.name, columns: [...table.columns], parts });
    }
    const [list] = await writeParts(writer, "files-list", readFileList(snapshot), Number.POSITIVE_INFINITY);
    if (list === undefined) throw new Error("The list of files has no part.");
    return {
      ...{ format: 1, id, taken_at: snapshot.takenAt.toISOString(), server_version: snapshot.serverVersion },
      ...{ schema: [...schema], tables, partitions: [...partitions], sequences: await snapshot.readSequences() },
      files: { list },
    };
  } finally {
    await snapshot.close();
  }
}

/** Sorts by time; the random suffix makes it unique. */
function createBackupId({ takenAt }: DatabaseSnapshot, randomBytes: (count: number) => Uint8Array): string {
  const time = takenAt.toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "");
  return `${time}-${Buffer.from(randomBytes(3)).toString("hex")}`;
}

async function copyFiles(
  { files, place, onProgress }: BackupDependencies,
  writer: PartWriter,
  list: Manifest["files"]["list"],
): Promise<{ count: number; bytes: number }> {
  let count = 0;
  return await forEachFile(readListedFiles({ place, folder: writer.folder }, list), async (file) => {
    writer.signal.throwIfAborted();
    await copyFile(files, writer, file);
    count += 1;
    onProgress(`files: ${count}`);
  });
}
