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
import { systemParts } from "./system-parts.ts";
import { watchWork } from "./watch-work.ts";
import { withDatabase } from "./with-database.ts";
import { openUsed, withStack } from "./with-stack.ts";

const where = "where";
const secretsOption = {
  placeholder: "word",
  explains: "include: also the secret key, which whoever has the backup can then use. Without it: leave out.",
};

const createCommand: Command = {
  name: "backup",
  summary: "Copies the database and all files, as of one moment, into a folder or s3://bucket/prefix.",
  positionals: [where],
  options: { secrets: secretsOption },
  run: ({ positionals: [placeName = ""], options, terminal }) =>
    withStack(async (stack) => {
      const includesSecret = readWord("secrets", options.secrets, "include");
      const settings = loadSettings(terminal.settingsPlace);
      const place = await openUsed(stack, openPlace(placeName, settings, { use: "write" }));
      const files = await openUsed(stack, openByteStore(settings));
      const { randomBytes } = systemParts;
      const manifest = await withDatabase(terminal, async (_database, _settings, address) =>
        createBackup(
          { address, files, place, randomBytes, ...watchWork(terminal, stack) },
          { secret: await findSecret(settings), includesSecret },
        ),
      );
      const text = `${presentBackup(manifest)}\n${presentSecretAdvice({ includesSecret })}`;
      return { json: presentBackupJson(manifest), text };
    }),
};

const baseCommand: Command = {
  name: "backup base",
  summary: "Copies the embedded database to wal_archive; with the log there, every later moment can be restored.",
  options: { secrets: secretsOption },
  run: ({ options, terminal }) =>
    withStack(async (stack) => {
      const includesSecret = readWord("secrets", options.secrets, "include");
      const settings = loadSettings(terminal.settingsPlace);
      const { wal_archive: archiveName, database_url: url } = settings;
      if (archiveName === undefined || url !== undefined) {
        throw new OperatorError(
          "There is no archive of the write-ahead log of an embedded database.",
          "Set wal_archive and start the gateway again; an external database has tools of its own for this.",
        );
      }
      const archive = await openUsed(stack, openPlace(archiveName, settings, { use: "write" }));
      const files = await openUsed(stack, openByteStore(settings));
      const { randomBytes } = systemParts;
      const base = await withDatabase(terminal, async (_database, _settings, address) =>
        createBaseBackup(
          { address, files, archive, randomBytes, ...watchWork(terminal, stack) },
          { secret: await findSecret(settings), includesSecret },
        ),
      );
      const size = presentSize(base.server.bytes);
      return {
        json: { id: base.id, taken_at: base.taken_at, bytes: base.server.bytes, files: base.files.count },
        text: `${base.id}: every moment from ${base.taken_at} on can be restored (${size}, ${base.files.count} files).\n${presentSecretAdvice({ includesSecret })}`,
      };
    }),
};

const listCommand: Command = {
  name: "backup list",
  summary: "Lists the backups in a place, the oldest first, and what backups that were cut off left there.",
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
        text: rows.length === 0 ? "There are no backups." : presentRows(["ID", "OF", "SIZE", "FILES", "SECRETS"], rows),
      };
    }),
};

const checkCommand: Command = {
  name: "backup check",
  summary: "Reads a backup to its end and compares every checksum.",
  positionals: [where],
  options: { backup: { placeholder: "backup id", explains: "Which one; without it: the newest that is complete." } },
  run: ({ positionals: [placeName = ""], options, terminal }) =>
    withPlace(placeName, terminal, async (place, stack) => {
      const manifest = await getBackup(place, options.backup);
      const problems = await checkBackup({ place, ...watchWork(terminal, stack) }, manifest);
      const json = { ...presentBackupJson(manifest), ok: problems.length === 0, problems };
      if (problems.length === 0) return { json, text: `${presentBackup(manifest)}\nAll of it is as it was written.` };
      const lines = problems.map((problem) => `✗ ${problem}`);
      return { json, text: [...lines, "The backup is damaged."].join("\n"), hasFailed: true };
    }),
};

/** Those with a word more come first: a command is found by how its words begin. */
export const backupCommands: readonly Command[] = [baseCommand, listCommand, checkCommand, createCommand];

async function withPlace<T>(
  placeName: string,
  terminal: Terminal,
  work: (place: ByteStore, stack: AsyncDisposableStack) => Promise<T>,
): Promise<T> {
  const settings = loadSettings(terminal.settingsPlace);
  return await withStack(async (stack) =>
    work(await openUsed(stack, openPlace(placeName, settings, { use: "read" })), stack),
  );
}
