import {
  checkBackup,
  createBackup,
  getBackup,
  listBackups,
  type Manifest,
  restoreBackup,
  sumBytes,
} from "../features/backups/index.ts";
import { checkAccounts, invariants } from "../features/ledger/index.ts";
import { loadSettings } from "../platform/config/load-settings.ts";
import { findSecret } from "../platform/config/master-key.ts";
import { confirmCopy } from "../platform/database/copy-state.ts";
import { readTime } from "../platform/database/database-clock.ts";
import type { ByteStore } from "../platform/storage/byte-store.ts";
import { openByteStore, openPlace } from "../platform/storage/open-byte-store.ts";
import type { Command, Terminal } from "./command.ts";
import { createWrongValue } from "./option-values.ts";
import { callCommand } from "./present-help.ts";
import { presentRows } from "./present-rows.ts";
import { databaseClock, systemParts } from "./system-parts.ts";
import { openForCommand, withDatabase } from "./with-database.ts";

const where = "where";
const backupOption = { placeholder: "backup id", explains: "Which one; without it: the newest that is complete." };

const createCommand: Command = {
  name: "backup",
  summary: "Copies the database and all files, as of one moment, into a folder or s3://bucket/prefix.",
  positionals: [where],
  options: {
    secrets: {
      placeholder: "word",
      explains: "include: also the secret key, which whoever has the backup can then use. Without it: leave out.",
    },
  },
  run: ({ positionals: [placeName = ""], options, terminal }) =>
    withStack(async (stack) => {
      const includesSecret = readWord("secrets", options.secrets, "include");
      const settings = loadSettings(terminal.settingsPlace);
      const place = await openUsed(stack, openPlace(placeName, settings, { use: "write" }));
      const files = await openUsed(stack, openByteStore(settings));
      const manifest = await withDatabase(terminal, async (_database, _settings, address) =>
        createBackup(
          { address, files, place, randomBytes: systemParts.randomBytes, ...watchWork(terminal, stack) },
          { secret: await findSecret(settings), includesSecret },
        ),
      );
      const keep = includesSecret
        ? "The secret key is in it: keep it as safe as the key itself."
        : "The secret key is not in it: keep secret.key of data_dir, or secret_key of the settings, apart from it.";
      return { json: presentBackupJson(manifest), text: `${presentBackup(manifest)}\n${keep}` };
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
              id,
              manifest.taken_at,
              presentSize(sumBytes(manifest)),
              String(manifest.files.count),
              hasSecrets(manifest),
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
  options: { backup: backupOption },
  run: ({ positionals: [placeName = ""], options, terminal }) =>
    withPlace(placeName, terminal, async (place, stack) => {
      const manifest = await getBackup(place, options.backup);
      const problems = await checkBackup({ place, ...watchWork(terminal, stack) }, manifest);
      const json = { ...presentBackupJson(manifest), ok: problems.length === 0, problems };
      if (problems.length === 0) return { json, text: `${presentBackup(manifest)}\nAll of it is as it was written.` };
      return {
        json,
        text: [...problems.map((problem) => `✗ ${problem}`), "The backup is damaged."].join("\n"),
        hasFailed: true,
      };
    }),
};

const restoreCommand: Command = {
  name: "restore",
  summary: "Makes a copy of a backup in an empty database and data directory; restore confirm lets it take over.",
  positionals: [where],
  options: {
    backup: backupOption,
    secrets: {
      placeholder: "word",
      explains: "new: goes without the original's secret key, and loses what it sealed.",
    },
  },
  run: ({ positionals: [placeName = ""], options, terminal }) =>
    withStack(async (stack) => {
      const settings = loadSettings(terminal.settingsPlace);
      const acceptsNewSecret = readWord("secrets", options.secrets, "new");
      const place = await openUsed(stack, openPlace(placeName, settings, { use: "read" }));
      const manifest = await getBackup(place, options.backup);
      const files = await openUsed(stack, openByteStore(settings));
      const { database, address } = await openUsed(stack, openForCommand(settings, terminal));
      const { randomBytes } = systemParts;
      await restoreBackup(
        { place, database, address, files, settings, randomBytes, ...watchWork(terminal, stack) },
        manifest,
        { acceptsNewSecret },
      );
      databaseClock.hear(await readTime(database));
      const now = systemParts.clock.now();
      const { violations } = await checkAccounts(database, { kind: "whole", accountIds: "all", now });
      const verdict =
        violations.length === 0
          ? `All ${invariants.length} invariants of the ledger hold.`
          : `The ledger is not as it must be: ${callCommand("ledger verify")}`;
      return {
        json: {
          ...presentBackupJson(manifest),
          ledger: { ok: violations.length === 0, violations: violations.length },
        },
        text: [
          `Restored ${presentBackup(manifest)}`,
          verdict,
          "This copy answers reads only, and runs no tasks and sends no webhooks, until it is confirmed.",
          `When the original is stopped for good: ${callCommand("restore confirm")}`,
        ].join("\n"),
        ...(violations.length === 0 ? {} : { hasFailed: true as const }),
      };
    }),
};

const confirmCommand: Command = {
  name: "restore confirm",
  summary: "Lets a restored copy take over: calls are paid, tasks run and webhooks are sent again.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const wasWaiting = await confirmCopy(database);
      return {
        json: { confirmed: wasWaiting },
        text: wasWaiting
          ? "The copy takes over: gateways on it begin to work within a second."
          : "This database is no restored copy that waits to be confirmed. Nothing was changed.",
      };
    }),
};

/** Those with a word more come first: a command is found by how its words begin. */
export const backupCommands: readonly Command[] = [listCommand, checkCommand, createCommand];
export const restoreCommands: readonly Command[] = [confirmCommand, restoreCommand];

async function openUsed<T extends { close(): Promise<void> }>(
  stack: AsyncDisposableStack,
  opening: Promise<T>,
): Promise<T> {
  const opened = await opening;
  stack.defer(() => opened.close());
  return opened;
}

async function withStack<T>(work: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const stack = new AsyncDisposableStack();
  try {
    return await work(stack);
  } finally {
    await stack.disposeAsync();
  }
}

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

const tellEveryMs = 2000;

/** Tells a person how far it is, now and then; and ends the work in order when it is interrupted. */
function watchWork(terminal: Terminal, stack: AsyncDisposableStack) {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort(new Error("It was interrupted."));
  process.once("SIGINT", stop);
  stack.defer(() => void process.off("SIGINT", stop));
  const isSeen = terminal.isTerminal && !terminal.isJson;
  let toldMs = Number.NEGATIVE_INFINITY;
  return {
    signal: interrupted.signal,
    onProgress(sentence: string): void {
      const nowMs = systemParts.clock.monotonicMs();
      if (!isSeen || nowMs - toldMs < tellEveryMs) return;
      toldMs = nowMs;
      terminal.tell(sentence);
    },
  };
}

function readWord(option: string, value: string | undefined, word: string): boolean {
  if (value === undefined || value === word) return value === word;
  throw createWrongValue(option, `the word ${word}, or nothing`);
}

function hasSecrets({ secrets }: Manifest): string {
  return secrets === null ? "no" : "yes";
}

function presentBackup(manifest: Manifest): string {
  const { id, taken_at, tables, files } = manifest;
  return `${id}: the database of ${taken_at} (${tables.length} tables) and ${files.count} files, ${presentSize(sumBytes(manifest))}.`;
}

function presentBackupJson(manifest: Manifest): Record<string, unknown> {
  const { id, taken_at, files, secrets, tables } = manifest;
  return {
    ...{ id, complete: true, taken_at, tables: tables.length, files: files.count },
    ...{ bytes: sumBytes(manifest), secrets: secrets !== null },
  };
}

function presentSize(bytes: number): string {
  const megabytes = bytes / 1_000_000;
  return megabytes >= 1000 ? `${(megabytes / 1000).toFixed(1)} GB` : `${megabytes.toFixed(1)} MB`;
}
