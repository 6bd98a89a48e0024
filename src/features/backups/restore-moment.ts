import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { findSecret, placeSecret } from "../../platform/config/master-key.ts";
import type { DatabaseAddress } from "../../platform/database/database.ts";
import { openSnapshot } from "../../platform/database/database-snapshot.ts";
import { locateRestoredLog } from "../../platform/database/embedded/cluster-directory.ts";
import { recoverCluster } from "../../platform/database/embedded/recover-cluster.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { readFileList } from "./backup-store.ts";
import { type Base, baseFolder, getBase } from "./base-manifest.ts";
import { forEachFile, parseListedFiles, toPart } from "./copy-files.ts";
import { decideSecret } from "./decide-secret.ts";
import { DamagedPartError, type PartReader, readPart, readParts } from "./part-stream.ts";
import { type RestoreDependencies, requireNoFiles } from "./restore-backup.ts";
import { listSegments, readSegment } from "./ship-log.ts";

type MomentDependencies = Omit<RestoreDependencies, "place" | "database" | "address"> & { archive: ByteStore };

/** Restores an empty data directory to a point in time, as a copy that an operator has to confirm. */
export async function restoreMoment(
  dependencies: MomentDependencies,
  { until, acceptsNewSecret }: { until: Date | null; acceptsNewSecret: boolean },
): Promise<{ base: Base; files: number; missing: readonly string[] }> {
  const { archive, files, settings, randomBytes, onProgress } = dependencies;
  if (settings.database_url !== undefined) {
    throw new OperatorError(
      "Point-in-time recovery works only with an embedded database.",
      "Unset DATABASE_URL, or use the external database's own tools.",
    );
  }
  const base = await getBase(archive, until);
  // An interrupted restore overwrites its own files.
  if (!existsSync(locateRestoredLog(settings.data_dir))) await requireNoFiles(files, settings);
  const reader: PartReader = { place: archive, folder: baseFolder };
  const secret = decideSecret({
    fingerprint: base.secret_fingerprint,
    here: await findSecret(settings),
    inBackup: base.secrets === null ? null : await text(Readable.from(readPart(reader, base.secrets))),
    acceptsNew: acceptsNewSecret,
  });
  const restored = { count: 0, missing: [] as string[] };
  await recoverCluster({
    ...{ dataDir: settings.data_dir, until, from: `${base.id} ${until?.toISOString() ?? "latest"}`, onProgress },
    tar: readParts(reader, [base.server]),
    fetchLog: (folder) => fetchLog(dependencies, base, folder),
    complete: (address) => restoreFiles(dependencies, address, restored),
  });
  if (secret !== null) await placeSecret(settings.data_dir, secret, randomBytes);
  return { base, files: restored.count, missing: restored.missing };
}

async function fetchLog(
  { archive, onProgress, signal }: MomentDependencies,
  base: Base,
  folder: string,
): Promise<string[]> {
  const paths: string[] = [];
  for (const name of await listSegments(archive, base.start_log)) {
    signal.throwIfAborted();
    const path = join(folder, name);
    await writeFile(path, (await readSegment(archive, name)) ?? Buffer.alloc(0), { mode: 0o600 });
    paths.push(path);
    onProgress(`log: ${paths.length} segments`);
  }
  return paths;
}

/** The database is worth more than a file: reports a missing file and restores the others. */
async function restoreFiles(
  { archive, files, onProgress, signal }: MomentDependencies,
  address: DatabaseAddress,
  restored: { count: number; missing: string[] },
): Promise<void> {
  const reader: PartReader = { place: archive, folder: "" };
  const snapshot = await openSnapshot(address);
  try {
    await forEachFile(parseListedFiles(readFileList(snapshot)), async (file) => {
      signal.throwIfAborted();
      try {
        await files.put(file.storageKey, readPart(reader, toPart(file)), { signal });
        restored.count += 1;
      } catch (error) {
        if (!(error instanceof DamagedPartError)) throw error;
        restored.missing.push(file.id);
      }
      onProgress(`files: ${restored.count}`);
    });
  } finally {
    await snapshot.close();
  }
}
