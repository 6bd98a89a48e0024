import { recordBackup } from "../features/alarms/index.ts";
import {
  checkBackup,
  createBackup,
  createBaseBackup,
  getBackup,
  listBackups,
  sumBytes,
} from "../features/backups/index.ts";
import { loadSettings } from "../platform/config/load-settings.ts";
import { findSecret } from "../platform/config/master-key.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { ByteStore } from "../platform/storage/byte-store.ts";
import { openByteStore, openPlace } from "../platform/storage/open-byte-store.ts";
import type { Command, Terminal } from "./command.ts";
import { readWord } from "./option-values.ts";
import { presentBackup, presentBackupJson, presentSecretAdvice, presentSize } from "./present-backup.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { trackProgress } from "./track-progress.ts";
import { withDatabase } from "./with-database.ts";
import { openWith, withStack } from "./with-stack.ts";

const where = "where";
const secretsOption = {
  placeholder: "word",
  description: "include: adds the secret key. Everyone with access to the backup can then use it. Default: without.",
};

const createCommand: Command = {
  name: "backup",
  summary: "Back up the database and all files, consistently, to a folder or s3://bucket/prefix.",
  positionals: [where],
  options: { secrets: secretsOption },
  run: ({ positionals: [placeName = ""], options, terminal }) =>
    withStack(async (stack) => {
      const includesSecret = readWord("secrets", options.secrets, "include");
      const settings = loadSettings(terminal.settingsPlace);
      const place = await openWith(stack, openPlace(placeName, settings, { use: "write" }));
      const files = await openWith(stack, openByteStore(settings));
      const { randomBytes } = systemDependencies;
      const manifest = await withDatabase(terminal, async (database, _settings, address) => {
        const made = await createBackup(
          { address, files, place, randomBytes, ...trackProgress(terminal, stack) },
          { secret: await findSecret(settings), includesSecret },
        );
        await recordBackup({ ...systemDependencies, database }, "full");
        return made;
      });
      const text = `${presentBackup(manifest)}\n${presentSecretAdvice({ includesSecret })}`;
      return { json: presentBackupJson(manifest), text };
    }),
};

const baseCommand: Command = {
  name: "backup base",
  summary: "Back up the embedded database to wal_archive, for point-in-time recovery of every later moment.",
  options: { secrets: secretsOption },
  run: ({ options, terminal }) =>
    withStack(async (stack) => {
      const includesSecret = readWord("secrets", options.secrets, "include");
      const settings = loadSettings(terminal.settingsPlace);
      const { wal_archive: archiveName, database_url: url } = settings;
      if (archiveName === undefined || url !== undefined) {
        throw new OperatorError(
          "wal_archive is not set, or the database is external.",
          "Set wal_archive and restart the gateway. For an external database, use its own tools.",
        );
      }
      const archive = await openWith(stack, openPlace(archiveName, settings, { use: "write" }));
      const files = await openWith(stack, openByteStore(settings));
      const { randomBytes } = systemDependencies;
      const base = await withDatabase(terminal, async (database, _settings, address) => {
        const made = await createBaseBackup(
          { address, files, archive, randomBytes, ...trackProgress(terminal, stack) },
          { secret: await findSecret(settings), includesSecret },
        );
        await recordBackup({ ...systemDependencies, database }, "base");
        return made;
      });
      const size = presentSize(base.server.bytes);
      return {
        json: { id: base.id, taken_at: base.taken_at, bytes: base.server.bytes, files: base.files.count },
        text: `${base.id}: you can restore every moment from ${base.taken_at} on (${size}, ${base.files.count} files).\n${presentSecretAdvice({ includesSecret })}`,
      };
    }),
};

const listCommand: Command = {
  name: "backup list",
  summary: "List the backups in a folder or bucket, oldest first, including incomplete ones.",
  positionals: [where],
  run: ({ positionals: [placeName = ""], terminal }) =>
    withPlace(placeName, terminal, async (place) => {
      const backups = await listBackups(place);
      const rows = backups.map(({ id, manifest }) =>
        manifest === null
          ? [id, "incomplete", "", "", ""]
          : [
              ...[id, manifest.taken_at, presentSize(sumBytes(manifest)), String(manifest.files.count)],
              manifest.secrets === null ? "no" : "yes",
            ],
      );
      return {
        json: backups.map(({ id, manifest }) =>
          manifest === null ? { id, complete: false } : presentBackupJson(manifest),
        ),
        text: rows.length === 0 ? "No backups." : presentRows(["ID", "OF", "SIZE", "FILES", "SECRETS"], rows),
      };
    }),
};

const checkCommand: Command = {
  name: "backup check",
  summary: "Read a whole backup and verify every checksum.",
  positionals: [where],
  options: {
    backup: { placeholder: "backup id", description: "The backup to check. Default: the newest complete one." },
  },
  run: ({ positionals: [placeName = ""], options, terminal }) =>
    withPlace(placeName, terminal, async (place, stack) => {
      const manifest = await getBackup(place, options.backup);
      const problems = await checkBackup({ place, ...trackProgress(terminal, stack) }, manifest);
      const json = { ...presentBackupJson(manifest), ok: problems.length === 0, problems };
      if (problems.length === 0) return { json, text: `${presentBackup(manifest)}\nAll checksums match.` };
      const lines = problems.map((problem) => `✗ ${problem}`);
      return { json, text: [...lines, "The backup is damaged. Create a new one."].join("\n"), hasFailed: true };
    }),
};

/** Longer names first: commands are matched by prefix. */
export const backupCommands: readonly Command[] = [baseCommand, listCommand, checkCommand, createCommand];

async function withPlace<T>(
  placeName: string,
  terminal: Terminal,
  work: (place: ByteStore, stack: AsyncDisposableStack) => Promise<T>,
): Promise<T> {
  const settings = loadSettings(terminal.settingsPlace);
  return await withStack(async (stack) =>
    work(await openWith(stack, openPlace(placeName, settings, { use: "read" })), stack),
  );
}
