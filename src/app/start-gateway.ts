import type { AddressInfo } from "node:net";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { migrate } from "../platform/database/migrate.ts";
import { openDatabase } from "../platform/database/open-database.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { HttpServer } from "../platform/http/create-http-server.ts";
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
    closers.push(() => drain(http, settings.shutdown_timeout_ms));
    const port = await listen(http, settings);
    return { port, demoKeyText: firstRun?.keyText ?? null, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(http: HttpServer, settings: Settings): Promise<number> {
  try {
    await http.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    throw explainListenError(error, settings);
  }
  return (http.server.address() as AddressInfo).port;
}

function explainListenError(error: unknown, { host, port }: Settings): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new OperatorError(
      `Port ${port} is in use by another program.`,
      `Stop it, or choose another port: SLUICE_PORT=${port + 1} npm start`,
    );
  }
  if (code === "EACCES") {
    return new OperatorError(`Your user may not listen on port ${port}.`, "Choose a port above 1023 (SLUICE_PORT).");
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new OperatorError(`${host} is not an address of this machine.`, "Set host to localhost or 0.0.0.0.");
  }
  return error;
}

/** Running requests may finish within the time; whoever is still connected then is cut off. */
async function drain(http: HttpServer, timeoutMs: number): Promise<void> {
  const cut = setTimeout(() => http.server.closeAllConnections(), timeoutMs);
  await http.close();
  clearTimeout(cut);
}
