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
import { databaseClock, systemParts } from "./system-parts.ts";
import { watchWork } from "./watch-work.ts";
import { openForCommand, withDatabase } from "./with-database.ts";
import { openUsed, withStack } from "./with-stack.ts";

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
  summary: "Makes a copy of a backup in an empty database and data directory; restore confirm lets it take over.",
  positionals: ["where"],
  options: {
    backup: { placeholder: "backup id", explains: "Which one; without it: the newest that is complete." },
    to: {
      placeholder: "time",
      explains: `From a wal_archive: as of this time, such as 2027-01-01T00:00:00Z; or ${latest}.`,
    },
    secrets: {
      placeholder: "word",
      explains: "new: goes without the original's secret key, and loses what it sealed.",
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
    const place = await openUsed(stack, openPlace(placeName, settings, { use: "read" }));
    const manifest = await getBackup(place, options.backup);
    const files = await openUsed(stack, openByteStore(settings));
    const { database, address } = await openUsed(stack, openForCommand(settings, terminal));
    const { randomBytes } = systemParts;
    const work = watchWork(terminal, stack);
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
    const archive = await openUsed(stack, openPlace(placeName, settings, { use: "read" }));
    const files = await openUsed(stack, openByteStore(settings));
    const { randomBytes } = systemParts;
    const work = watchWork(terminal, stack);
    const restored = await restoreMoment(
      { archive, files, settings, randomBytes, ...work },
      { until, acceptsNewSecret },
    );
    const { database, address } = await openUsed(stack, openForCommand(settings, terminal));
    await migrate(address);
    const { base, missing } = restored;
    const shown = missing.slice(0, 5).join(", ");
    return await conclude(database, {
      json: { base: base.id, to: until?.toISOString() ?? latest, files: restored.files, missing },
      lines: [
        `Restored the database of ${until?.toISOString() ?? "the latest moment in the log"} and ${restored.files} files.`,
        ...(missing.length === 0 ? [] : [`${missing.length} files are not in the archive, such as ${shown}.`]),
      ],
      isWhole: missing.length === 0,
    });
  });
}

/** Checks the ledger of a copy, and says what comes next. */
async function conclude(
  database: Database,
  { json, lines, isWhole }: { json: Record<string, unknown>; lines: string[]; isWhole: boolean },
): Promise<CommandResult> {
  databaseClock.observe(await readDatabaseTime(database));
  const now = systemParts.clock.now();
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
        : `The ledger is not as it must be: ${callCommand("ledger verify")}`,
      "This copy answers reads only, and runs no tasks and sends no webhooks, until it is confirmed.",
      `When the original is stopped for good: ${callCommand("restore confirm")}`,
    ].join("\n"),
    ...(isSound && isWhole ? {} : { hasFailed: true as const }),
  };
}

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

/** The one with a word more comes first: a command is found by how its words begin. */
export const restoreCommands: readonly Command[] = [confirmCommand, restoreCommand];
