import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, createReadStream, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { OperatorError } from "../../errors/operator-error.ts";
import type { ServerAddress } from "../database-address.ts";
import {
  type ClusterPaths,
  clusterUser,
  createDiskFullError,
  databaseEnvironment,
  hasCluster,
  initializeCluster,
  measureLog,
  prepareDataDirectory,
  readPassword,
  requireFreeSpace,
  requireNoUnfinishedRestore,
} from "./cluster-directory.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import { claimStalePidFile, findPostmaster, type Owner, type Postmaster, presentOwner } from "./postmaster.ts";
import { chooseLaunch, type Launch } from "./unprivileged.ts";

export type EmbeddedPostgres = {
  address: ServerAddress;
  /** Stops the server if this process started it, after other commands have finished with it. */
  close(): Promise<void>;
};

type EmbeddedPostgresOptions = {
  dataDir: string;
  /** A gateway must own its server; a command joins a running one, or starts its own. */
  purpose: Owner["purpose"];
  onProgress(sentence: string): void;
  /** The server died and could not be restarted. */
  onLost(error: Error): void;
  /** Where finished WAL segments are put to be archived; without it they are recycled. */
  logSpool?: string | undefined;
  serverSettings?: Record<string, string>;
};

const pollMs = 10;
const openMsMax = 60_000;
const stopMsMax = 20_000;
const restartsMax = 5;
const logBytesMax = 5 * 1024 * 1024;
/** Commands that joined another command's server share this advisory lock; the owner waits for it before it stops. */
const guestLock = 7_264_001;

/** Joins or starts the PostgreSQL of a data directory. Stops one whose owner was killed. */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const paths = prepareDataDirectory(options.dataDir);
  const deadlineAt = performance.now() + openMsMax;
  let hasToldOfWaiting = false;

  while (performance.now() < deadlineAt) {
    const running = findPostmaster(paths.clusterDir);
    if (running === null) {
      const server = await startServer(options, paths);
      if (server !== null) return ownServer(options, paths, server);
    } else if (!running.isOurs) {
      throw new OperatorError(
        `A PostgreSQL that Sluice did not start (process ${running.processId}) runs on ${paths.clusterDir}.`,
        "Stop it, or choose another data_dir.",
      );
    } else if (running.owner === null) {
      await stopOrphan(running, paths);
    } else if (options.purpose === "command") {
      const guest = await joinServer(running, paths);
      if (guest !== null) return guest;
    } else if (running.owner.purpose === "gateway") {
      throw new OperatorError(
        `Another gateway (process ${running.owner.processId}) already runs on the data directory ${options.dataDir}.`,
        "Stop it first, or give this one another data_dir (SLUICE_DATA_DIR) and port (SLUICE_PORT).",
      );
    } else if (!hasToldOfWaiting) {
      options.onProgress("Waiting for another sluice command to finish with the database …");
      hasToldOfWaiting = true;
    }
    await wait(pollMs);
  }
  throw createNotReadyError(paths);
}

/**
 * For a process of a gateway: joins the PostgreSQL that its supervisor started. Waits for one that is down, because its owner
 * restarts it.
 */
export async function joinEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const paths = prepareDataDirectory(dataDir);
  const deadlineAt = performance.now() + openMsMax;
  while (performance.now() < deadlineAt) {
    const running = findPostmaster(paths.clusterDir);
    if (running?.isReady && running.owner !== null) return { address: getAddress(paths), async close() {} };
    await wait(pollMs);
  }
  throw createNotReadyError(paths);
}

function createNotReadyError({ logFile }: ClusterPaths): OperatorError {
  const message = `The embedded PostgreSQL was not ready after ${openMsMax / 1000} s.`;
  return new OperatorError(message, `Look into ${logFile}.`);
}

function getAddress(paths: ClusterPaths): ServerAddress {
  return { host: paths.socketDir, user: clusterUser, password: readPassword(paths), database: "sluice" };
}

/** `null` if another process started one first. */
export async function startServer(options: EmbeddedPostgresOptions, paths: ClusterPaths): Promise<ChildProcess | null> {
  requireFreeSpace(paths.dataDir);
  const binDir = findPostgresBinaries();
  const launch = chooseLaunch({ binDir, dataDir: paths.dataDir });
  if (!hasCluster(paths)) {
    requireNoUnfinishedRestore(paths.dataDir);
    options.onProgress("Creating the database (once) …");
    await initializeCluster({ paths, binDir, launch });
  }
  launch.handOver(paths.socketDir);
  if (options.logSpool !== undefined) {
    mkdirSync(options.logSpool, { recursive: true, mode: 0o700 });
    launch.handOver(options.logSpool);
  }
  claimStalePidFile(paths.clusterDir);
  if (measureLog(paths) > logBytesMax) rmSync(paths.logFile);
  const logStart = measureLog(paths);
  const server = spawnServer({ options, paths, binDir, launch });
  const exit = watchExit(server);
  const startedAt = performance.now();
  let hasToldOfRecovery = false;
  while (!exit.hasExited) {
    const found = findPostmaster(paths.clusterDir);
    if (found?.processId === server.pid && found?.isReady) return server;
    if (!hasToldOfRecovery && performance.now() - startedAt > 3000) {
      options.onProgress("PostgreSQL is recovering from an unclean stop …");
      hasToldOfRecovery = true;
    }
    await wait(pollMs);
  }
  return explainFailedStart(await text(createReadStream(paths.logFile, { start: logStart })), paths);
}

function spawnServer(input: {
  options: EmbeddedPostgresOptions;
  paths: ClusterPaths;
  binDir: string;
  launch: Launch;
}): ChildProcess {
  const { options, paths, binDir, launch } = input;
  const settings: Record<string, string> = {
    cluster_name: presentOwner({ purpose: options.purpose, processId: process.pid }),
    listen_addresses: "",
    unix_socket_directories: paths.socketDir,
    unix_socket_permissions: "0700",
    max_connections: "200",
    timezone: "UTC",
    log_timezone: "UTC",
    // Keep failed statements out of the log: they may contain customers' data.
    log_min_error_statement: "panic",
    log_checkpoints: "off",
    ...(options.logSpool === undefined ? {} : describeArchiving(options.logSpool)),
    ...options.serverSettings,
  };
  const [program = "", ...words] = [
    ...launch.prefix,
    join(binDir, "postgres"),
    ...["-D", paths.clusterDir],
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const log = openSync(paths.logFile, "a", 0o600);
  // A separate process group does not receive Ctrl-C: the gateway drains first, then stops the server.
  const server = spawn(program, words, { stdio: ["ignore", log, log], detached: true, env: databaseEnvironment });
  closeSync(log);
  return server;
}

/** `archive_timeout`: the most that is lost with the machine. */
const segmentSecondsMax = 60;

/** Copies a segment to a draft, syncs and renames it. An existing segment must be identical. */
function describeArchiving(logSpool: string): Record<string, string> {
  const target = `${quoteForShell(logSpool).replaceAll("%", "%%")}/%f`;
  const copy = `cp "%p" ${target}.part && sync ${target}.part && mv ${target}.part ${target}`;
  return {
    archive_mode: "on",
    archive_command: `if [ -f ${target} ]; then cmp -s "%p" ${target}; else ${copy}; fi`,
    archive_timeout: String(segmentSecondsMax),
  };
}

export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function watchExit(server: ChildProcess): { hasExited: boolean; done: Promise<void> } {
  const exit = { hasExited: server.exitCode !== null || server.signalCode !== null, done: Promise.resolve() };
  if (exit.hasExited) return exit;
  exit.done = new Promise((settle) => {
    const end = (): void => {
      exit.hasExited = true;
      settle();
    };
    server.once("exit", end).once("error", end);
  });
  return exit;
}

function explainFailedStart(log: string, paths: ClusterPaths): null {
  // A second process started at the same moment, or children of a killed server are still exiting.
  if (/lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(log)) return null;
  if (log.includes("No space left on device")) throw createDiskFullError(paths.dataDir);
  const lines = log.split("\n").filter((line) => /FATAL|ERROR|PANIC|DETAIL|error/.test(line));
  throw new OperatorError(
    `The embedded PostgreSQL did not start. ${lines.slice(-3).join(" ")}`.trim(),
    `Look into ${paths.logFile}; \`npm run -s sluice -- doctor\` checks the rest.`,
  );
}

/** Restarts the server when it dies, up to a limit. */
function ownServer(options: EmbeddedPostgresOptions, paths: ClusterPaths, first: ChildProcess): EmbeddedPostgres {
  let server = first;
  let isClosing = false;
  let watching = watch();

  async function watch(): Promise<void> {
    for (let restarts = 0; restarts <= restartsMax; restarts += 1) {
      await watchExit(server).done;
      if (isClosing) return;
      options.onProgress("PostgreSQL stopped unexpectedly; starting it again …");
      const next = await restart();
      if (next === null) return;
      server = next;
    }
    options.onLost(new Error("PostgreSQL keeps stopping unexpectedly."));
  }

  async function restart(): Promise<ChildProcess | null> {
    try {
      const deadlineAt = performance.now() + openMsMax;
      while (!isClosing && performance.now() < deadlineAt) {
        const next = await startServer(options, paths);
        if (next !== null) return next;
        await wait(pollMs);
      }
      throw new Error("PostgreSQL could not be started again.");
    } catch (error) {
      if (!isClosing) options.onLost(error instanceof Error ? error : new Error(String(error)));
      return null;
    }
  }

  return {
    address: getAddress(paths),
    async close() {
      const guard = options.purpose === "command" ? await shutOutGuests(getAddress(paths)) : null;
      isClosing = true;
      server.kill("SIGINT");
      const stopped = watching;
      watching = Promise.resolve();
      const force = setTimeout(() => server.kill("SIGQUIT"), stopMsMax);
      await stopped;
      clearTimeout(force);
      await guard?.end().catch(() => {});
    },
  };
}

/** `null` if the server is stopping or not ready yet: the caller retries. */
async function joinServer(running: Postmaster, paths: ClusterPaths): Promise<EmbeddedPostgres | null> {
  if (!running.isReady) return null;
  const client = createClient({ ...getAddress(paths), database: "postgres" });
  const probe = createClient({ ...getAddress(paths), database: "postgres" });
  try {
    await client.connect();
    await client.query("select pg_advisory_lock_shared($1)", [guestLock]);
    // A stopping server releases its owner's lock before it exits, but accepts no new connections by then.
    await probe.connect();
  } catch {
    // The server may be stopping; the caller retries.
    await client.end().catch(() => {});
    return null;
  } finally {
    await probe.end().catch(() => {});
  }
  return { address: getAddress(paths), close: () => client.end() };
}

/**
 * Waits for guests, and keeps others from joining: they wait for this lock and lose the connection when the server stops, before
 * they have done anything. So the lock must be held until the server is gone.
 */
async function shutOutGuests(address: ServerAddress): Promise<pg.Client> {
  const client = createClient({ ...address, database: "postgres" });
  try {
    await client.connect();
    await client.query(`set lock_timeout = ${stopMsMax}`);
    await client.query("select pg_advisory_lock($1)", [guestLock]);
  } catch {
    // A slow guest, or a server that is already gone, must not keep this command from exiting.
  }
  return client;
}

function createClient(address: ServerAddress): pg.Client {
  const client = new pg.Client(address);
  // Without a listener, an error of the connection would end this process.
  client.on("error", () => {});
  return client;
}

/** Stops a server whose owner was killed. */
async function stopOrphan(orphan: Postmaster, paths: ClusterPaths): Promise<void> {
  process.kill(orphan.processId, "SIGINT");
  const deadlineAt = performance.now() + stopMsMax;
  while (findPostmaster(paths.clusterDir)?.processId === orphan.processId) {
    if (performance.now() > deadlineAt) {
      throw new OperatorError(
        `A PostgreSQL left behind by a killed gateway (process ${orphan.processId}) does not stop.`,
        `End it with \`kill -QUIT ${orphan.processId}\` and start again.`,
      );
    }
    await wait(pollMs);
  }
}
