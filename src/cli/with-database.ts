import { appendAudit } from "../features/audit/index.ts";
import { loadSettings, type Settings } from "../platform/config/load-settings.ts";
import { requireWhole } from "../platform/database/copy-state.ts";
import type { Database, DatabaseAddress } from "../platform/database/database.ts";
import { readTime } from "../platform/database/database-clock.ts";
import { locateLogSpool } from "../platform/database/embedded/cluster-directory.ts";
import { isNewDatabase, migrate, requireMigrated } from "../platform/database/migrate.ts";
import { type OpenDatabase, openDatabase } from "../platform/database/open-database.ts";
import type { Terminal } from "./command.ts";
import { databaseClock } from "./system-dependencies.ts";

/**
 * Runs a command's work on the database, whether a gateway runs or not. Never migrates an existing schema: a command of a
 * newer version must not change it under older gateways.
 */
export async function withDatabase<T>(
  terminal: Terminal,
  work: (database: Database, settings: Settings, address: DatabaseAddress) => Promise<T>,
): Promise<T> {
  const { host, auditEntry } = terminal;
  if (host !== undefined) {
    return await work(host.database, host.settings, host.address);
  }
  const settings = loadSettings(terminal.settingsPlace);
  const { database, address, close } = await openForCommand(settings, terminal);
  try {
    databaseClock.observe(await readTime(database));
    // The first command or start initializes a new data folder.
    if (settings.database_url === undefined && (await isNewDatabase(database))) await migrate(address);
    await requireWhole(database);
    await requireMigrated(database);
    if (auditEntry !== null) await appendAudit(database, auditEntry);
    return await work(database, settings, address);
  } finally {
    await close();
  }
}

export async function openForCommand(settings: Settings, terminal: Terminal): Promise<OpenDatabase> {
  return await openDatabase({
    url: settings.database_url,
    dataDir: settings.data_dir,
    logSpool: locateLogSpool(settings),
    purpose: "command",
    connectionsMax: 2,
    // With --json, standard error is JSON too.
    onProgress: terminal.isJson ? () => {} : terminal.printNote,
    // The query fails with the same error.
    onConnectionError: () => {},
    onLost: () => {},
  });
}
