import { getBackup, restoreBackup, restoreMoment } from "../features/backups/index.ts";
import { type CheckOutcome, checkEverything, invariants, type Violation } from "../features/ledger/index.ts";
import { loadSettings, type Settings } from "../platform/config/load-settings.ts";
import { confirmCopy } from "../platform/database/copy-state.ts";
import type { Database } from "../platform/database/database.ts";
import { readTime as readDatabaseTime } from "../platform/database/database-clock.ts";
import { migrate } from "../platform/database/migrate.ts";
import { openByteStore, openPlace } from "../platform/storage/open-byte-store.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { readTime, readWord } from "./option-values.ts";
import { presentBackup, presentBackupJson } from "./present-backup.ts";
import { callCommand } from "./present-help.ts";
import { databaseClock, systemDependencies } from "./system-dependencies.ts";
import { trackProgress } from "./track-progress.ts";
import { openForCommand, withDatabase } from "./with-database.ts";
import { openWith, withStack } from "./with-stack.ts";

type Order = {
  placeName: string;
  options: Readonly<Record<string, string | undefined>>;
  settings: Settings;
  terminal: Terminal;
  acceptsNewSecret: boolean;
};

const latest = "latest";

const restoreCommand: Command = {
  name: "restore",
  summary:
    "Restore a backup into an empty database and data folder, as a read-only copy until you run restore confirm.",
  positionals: ["where"],
  options: {
    backup: { placeholder: "backup id", description: "The backup to restore. Default: the newest complete one." },
    to: {
      placeholder: "time",
      description: `Point in time from a wal_archive, such as 2027-01-01T00:00:00Z, or ${latest}.`,
    },
    secrets: {
      placeholder: "word",
      description: "new: restore without the original secret key. Encrypted secrets are lost.",
    },
  },
  async run({ positionals: [placeName = ""], options, terminal }) {
    const acceptsNewSecret = readWord("secrets", options.secrets, "new");
    const order = { placeName, options, settings: loadSettings(terminal.settingsPlace), terminal, acceptsNewSecret };
    return await (options.to === undefined ? restoreWhole(order) : restoreTo(order, options.to));
  },
};

function restoreWhole({ placeName, options, settings, terminal, acceptsNewSecret }: Order): Promise<CommandResult> {
  return withStack(async (stack) => {
    const place = await openWith(stack, openPlace(placeName, settings, { use: "read" }));
    const manifest = await getBackup(place, options.backup);
    const files = await openWith(stack, openByteStore(settings));
    const { database, address } = await openWith(stack, openForCommand(settings, terminal));
    const { randomBytes } = systemDependencies;
    const work = trackProgress(terminal, stack);
    await restoreBackup({ place, database, address, files, settings, randomBytes, ...work }, manifest, {
      acceptsNewSecret,
    });
    return await conclude(database, {
      json: presentBackupJson(manifest),
      lines: [`Restored ${presentBackup(manifest)}`],
      isWhole: true,
    });
  });
}

function restoreTo({ placeName, settings, terminal, acceptsNewSecret }: Order, to: string): Promise<CommandResult> {
  return withStack(async (stack) => {
    const until = to === latest ? null : readTime(to, "to");
    const archive = await openWith(stack, openPlace(placeName, settings, { use: "read" }));
    const files = await openWith(stack, openByteStore(settings));
    const { randomBytes } = systemDependencies;
    const work = trackProgress(terminal, stack);
    const restored = await restoreMoment(
      { archive, files, settings, randomBytes, ...work },
      { until, acceptsNewSecret },
    );
    const { database, address } = await openWith(stack, openForCommand(settings, terminal));
    await migrate(address);
    const { base, missing } = restored;
    const shown = missing.slice(0, 5).join(", ");
    return await conclude(database, {
      json: { base: base.id, to: until?.toISOString() ?? latest, files: restored.files, missing },
      lines: [
        `Restored the database as of ${until?.toISOString() ?? "the latest moment in the log"} and ${restored.files} files.`,
        ...(missing.length === 0 ? [] : [`${missing.length} files are missing from the archive, such as ${shown}.`]),
      ],
      isWhole: missing.length === 0,
    });
  });
}

/** Verifies the copy's ledger and prints the next step. */
async function conclude(
  database: Database,
  { json, lines, isWhole }: { json: Record<string, unknown>; lines: string[]; isWhole: boolean },
): Promise<CommandResult> {
  databaseClock.observe(await readDatabaseTime(database));
  const now = systemDependencies.clock.now();
  const found: Violation[] = [];
  const onFound = ({ violations }: CheckOutcome): void => void found.push(...violations);
  await checkEverything(database, { now, onFound, place: "own" });
  const isSound = found.length === 0;
  return {
    json: { ...json, ledger: { ok: isSound, violations: found.length } },
    text: [
      ...lines,
      isSound
        ? `All ${invariants.length} invariants of the ledger hold.`
        : `The ledger has violations. List them: ${callCommand("ledger verify")}`,
      "Until you confirm it, this copy serves only reads, runs no tasks and sends no webhooks.",
      `After you have stopped the original for good: ${callCommand("restore confirm")}`,
    ].join("\n"),
    ...(isSound && isWhole ? {} : { hasFailed: true as const }),
  };
}

const confirmCommand: Command = {
  name: "restore confirm",
  summary: "Confirm a restored copy: it charges calls, runs tasks and sends webhooks from now on.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const wasWaiting = await confirmCopy(database);
      return {
        json: { confirmed: wasWaiting },
        text: wasWaiting
          ? "Confirmed. Gateways on this copy start to work within a second."
          : "This database is not a copy that waits for confirmation. No changes.",
      };
    }),
};

/** Longer names first: commands are matched by prefix. */
export const restoreCommands: readonly Command[] = [confirmCommand, restoreCommand];
