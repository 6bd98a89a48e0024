import { loadSettings, type Settings } from "../platform/config/load-settings.ts";
import { requireWhole } from "../platform/database/copy-state.ts";
import type { Database, DatabaseAddress } from "../platform/database/database.ts";
import { readTime } from "../platform/database/database-clock.ts";
import { locateLogSpool } from "../platform/database/embedded/cluster-directory.ts";
import { isNewDatabase, migrate, requireMigrated } from "../platform/database/migrate.ts";
import { type OpenDatabase, openDatabase } from "../platform/database/open-database.ts";
import type { Terminal } from "./command.ts";
import { databaseClock } from "./system-parts.ts";

/**
 * Runs a command's work on the database, whether the gateway runs beside it or not. Never migrates a
 * schema that is there: a command of a newer version must not change it under gateways that nobody meant to upgrade yet.
 */
export async function withDatabase<T>(
  terminal: Terminal,
  work: (database: Database, settings: Settings, address: DatabaseAddress) => Promise<T>,
): Promise<T> {
  const settings = loadSettings(terminal.settingsPlace);
  const { database, address, close } = await openForCommand(settings, terminal);
  try {
    databaseClock.observe(await readTime(database));
    // A data directory that is new gets its server and its schema by whatever comes first.
    if (settings.database_url === undefined && (await isNewDatabase(database))) await migrate(address);
    await requireWhole(database);
    await requireMigrated(database);
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
    // A script reads standard error as JSON.
    onProgress: terminal.isJson ? () => {} : terminal.tell,
    // The query that needs the connection fails with the same error, and tells it.
    onConnectionError: () => {},
    onLost: () => {},
  });
}
