import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { migrate } from "../platform/database/migrate.ts";
import { openDatabase } from "../platform/database/open-database.ts";
import { openDoors } from "../platform/http/open-doors.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { createGatewayHttp } from "./create-gateway-http.ts";
import { prepareFirstRun } from "./prepare-first-run.ts";

export type Gateway = {
  port: number;
  /** The demo account's key, on the run that made it. */
  demoKeyText: string | null;
  /** Lets running requests finish, then ends everything in the reverse order of the start. */
  close(): Promise<void>;
};

export type GatewayParts = {
  settings: Settings;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  logger: Logger;
  /** Told about everything that takes long. */
  onProgress(sentence: string): void;
  /** Told when the gateway cannot go on. */
  onLost(error: Error): void;
};

/** Builds every part from the settings and starts it: the database, its schema, the first run, then the doors. */
export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { settings, logger } = parts;
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };

  try {
    const { database, close: closeDatabase } = await openDatabase({
      url: settings.database_url,
      dataDir: settings.data_dir,
      purpose: "gateway",
      connectionsMax: settings.database_connections,
      onProgress: parts.onProgress,
      onConnectionError: (error) => logger.warn({ error }, "a database connection broke"),
      onLost: parts.onLost,
    });
    closers.push(closeDatabase);
    const applied = await migrate(database);
    if (applied.length > 0) logger.info({ migrations: applied }, "migrated");
    const firstRun = settings.sandbox === "on" ? await prepareFirstRun({ ...parts, database }) : null;
    const http = await createGatewayHttp({ ...parts, database });
    const doors = await openDoors(http, settings);
    closers.push(() => doors.close(settings.shutdown_timeout_ms));
    return { port: doors.port, demoKeyText: firstRun?.keyText ?? null, close };
  } catch (error) {
    await close();
    throw error;
  }
}
