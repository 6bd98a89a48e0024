import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Settings } from "../../platform/config/load-settings.ts";
import { findSecret, placeSecret } from "../../platform/config/master-key.ts";
import { beginRestoring, readCopyState } from "../../platform/database/copy-state.ts";
import type { Database } from "../../platform/database/database.ts";
import { fillDatabase, listTableNames, type TableShape } from "../../platform/database/database-snapshot.ts";
import { migrate } from "../../platform/database/migrate.ts";
import { readMigrations } from "../../platform/database/migration-files.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import { checkBackup } from "./check-backup.ts";
import { forEachFile, readListedFiles, toPart } from "./copy-files.ts";
import type { BackupDependencies } from "./create-backup.ts";
import { decideSecret } from "./decide-secret.ts";
import type { Manifest } from "./manifest.ts";
import { type PartReader, readPart, readParts } from "./part-stream.ts";

/** `files` is the file storage to restore into. */
export type RestoreDependencies = BackupDependencies & {
  database: Database;
  settings: Pick<Settings, "data_dir" | "database_url" | "secret_key" | "s3_bucket">;
};

/**
 * Restores a backup into an empty database and an empty folder of files, as a copy that an operator has to confirm.
 * Verifies everything before writing anything. An interrupted restore leaves a database that no gateway starts on; run
 * the same restore again.
 */
export async function restoreBackup(
  dependencies: RestoreDependencies,
  manifest: Manifest,
  { acceptsNewSecret }: { acceptsNewSecret: boolean },
): Promise<void> {
  const { place, address, settings, randomBytes, onProgress } = dependencies;
  const reader: PartReader = { place, folder: manifest.id };
  requireKnownSchema(manifest);
  const isNew = await requireEmpty(dependencies);
  const secret = decideSecret({
    fingerprint: manifest.secret_fingerprint,
    here: await findSecret(settings),
    inBackup: manifest.secrets === null ? null : await text(Readable.from(readPart(reader, manifest.secrets))),
    acceptsNew: acceptsNewSecret,
  });
  await requireUndamaged(dependencies, manifest);
  const numberMax = manifest.schema.at(-1)?.number ?? 0;
  if (isNew) await migrate(address, { fresh: { numberMax, conclude: beginRestoring } });
  if (secret !== null) await placeSecret(settings.data_dir, secret, randomBytes);
  await restoreFiles(dependencies, manifest);
  await restoreDatabase(dependencies, manifest);
  const applied = await migrate(address);
  if (applied.length > 0) onProgress(`migrated: ${applied.join(", ")}`);
}

/** The restore creates the backup's schema with this version's migrations, so it must know all of them. */
function requireKnownSchema({ schema, id }: Manifest): void {
  const known = readMigrations();
  const isKnown = schema.every(({ number, checksum }, index) => {
    const migration = known[index];
    return migration?.number === number && migration.checksum === checksum;
  });
  if (isKnown) return;
  throw new OperatorError(
    `The backup ${id} was made by a newer Sluice, or by a development version before 0.2.0.`,
    "Restore it with the version that made it.",
  );
}

/** Returns whether the target is empty, or `false` after an interrupted restore. Throws for anything else. */
async function requireEmpty({ database, address, files, settings }: RestoreDependencies): Promise<boolean> {
  const tables = await listTableNames(address);
  if (tables.length > 0 && (await readCopyState(database)) === "restoring") return false;
  if (tables.length > 0) {
    const shown = tables.slice(0, 3).join(", ");
    throw new OperatorError(
      `The database is not empty: it has ${tables.length} tables, such as ${shown}.`,
      "Restore into a new database, or use a new data_dir (SLUICE_DATA_DIR).",
    );
  }
  await requireNoFiles(files, settings);
  return true;
}

export async function requireNoFiles(files: ByteStore, settings: RestoreDependencies["settings"]): Promise<void> {
  // A bucket may contain other files, or have survived the loss of the database.
  const [found] = settings.s3_bucket === undefined ? await files.list("") : [];
  if (found === undefined) return;
  throw new OperatorError(
    `The data directory is not empty: ${settings.data_dir}/files has ${found}.`,
    "Use a new data_dir (SLUICE_DATA_DIR).",
  );
}

async function requireUndamaged(dependencies: RestoreDependencies, manifest: Manifest): Promise<void> {
  const problems = await checkBackup(dependencies, manifest);
  if (problems.length === 0) return;
  throw new OperatorError(
    `The backup ${manifest.id} is damaged: ${problems.slice(0, 3).join(" ")}`,
    "Nothing was restored. Use another backup: npm run -s sluice -- backup list <where>",
  );
}

async function restoreFiles(
  { place, files, onProgress, signal }: RestoreDependencies,
  manifest: Manifest,
): Promise<void> {
  const reader: PartReader = { place, folder: manifest.id };
  let count = 0;
  await forEachFile(readListedFiles(reader, manifest.files.list), async (file) => {
    signal.throwIfAborted();
    await files.put(file.storageKey, readPart(reader, toPart(file)), { signal });
    count += 1;
    onProgress(`files: ${count} of ${manifest.files.count}`);
  });
}

async function restoreDatabase(
  { place, address, onProgress, signal }: RestoreDependencies,
  manifest: Manifest,
): Promise<void> {
  const { schema, tables, partitions, sequences } = manifest;
  const reader: PartReader = { place, folder: manifest.id };
  const parts = new Map(tables.map((table) => [table.name, table.parts]));
  let count = 0;
  async function* read({ name }: TableShape): AsyncGenerator<Buffer> {
    signal.throwIfAborted();
    count += 1;
    onProgress(`database: ${name}, ${count} of ${tables.length} tables`);
    yield* readParts(reader, parts.get(name) ?? []);
  }
  await fillDatabase(address, { schema, tables, partitions, sequences, read }, manifest.id);
}
