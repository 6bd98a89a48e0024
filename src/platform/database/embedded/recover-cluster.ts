import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { OperatorError } from "../../errors/operator-error.ts";
import { markUnconfirmed } from "../copy-state.ts";
import type { ServerAddress } from "../database-address.ts";
import {
  type ClusterPaths,
  clusterUser,
  databaseEnvironment,
  hasCluster,
  locateRestoredLog,
  prepareDataDirectory,
  readPassword,
} from "./cluster-directory.ts";
import { quoteForShell, startServer, watchExit } from "./embedded-postgres.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import { chooseLaunch, type Launch } from "./unprivileged.ts";

type Recovery = {
  dataDir: string;
  /** The output of `copyServer`. */
  tar: AsyncIterable<Buffer>;
  /** Copies the WAL segments into a folder, and returns their paths. */
  fetchLog(folder: string): Promise<string[]>;
  /** The recovery target; `null` for the end of the log. */
  until: Date | null;
  /** The backup's name. */
  from: string;
  /** Restores the rest, such as files, after the database was recovered. */
  complete(address: ServerAddress): Promise<void>;
  onProgress(sentence: string): void;
};

/**
 * Point-in-time recovery from a base backup and the WAL after it; the result is an unconfirmed copy. The files are moved into
 * the data directory at the very end, so that an interrupted recovery leaves no incomplete cluster.
 */
export async function recoverCluster(recovery: Recovery): Promise<void> {
  const paths = prepareDataDirectory(recovery.dataDir);
  if (hasCluster(paths)) {
    throw new OperatorError(
      `The data directory ${paths.dataDir} has a database already.`,
      "Restore with a data_dir (SLUICE_DATA_DIR) of its own.",
    );
  }
  const launch = chooseLaunch({ binDir: findPostgresBinaries(), dataDir: paths.dataDir });
  // Named like the attempts of a first start, which are removed when their process is gone.
  const clusterDir = join(paths.dataDir, `postgres-new-${process.pid}`);
  const logDir = locateRestoredLog(paths.dataDir);
  try {
    for (const folder of [clusterDir, logDir]) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700 });
      launch.handOver(folder);
    }
    await extract(launch, recovery.tar, clusterDir);
    for (const path of await recovery.fetchLog(logDir)) launch.handOver(path);
    writeFileSync(join(clusterDir, "recovery.signal"), "");
    launch.handOver(join(clusterDir, "recovery.signal"));
    await recover(recovery, { ...paths, clusterDir }, logDir);
    renameSync(clusterDir, paths.clusterDir);
    rmSync(logDir, { recursive: true });
  } finally {
    rmSync(clusterDir, { recursive: true, force: true });
  }
}

/** Runs tar as the server's user, so that it owns the files. */
async function extract(launch: Launch, tar: AsyncIterable<Buffer>, folder: string): Promise<void> {
  const [program = "", ...words] = [...launch.prefix, "tar", "-x", "-f", "-", "-C", folder];
  const child = spawn(program, words, { stdio: ["pipe", "ignore", "inherit"], env: databaseEnvironment });
  const exited = new Promise<number | null>((settle, reject) => child.once("error", reject).once("exit", settle));
  await pipeline(Readable.from(tar), child.stdin);
  if ((await exited) !== 0) throw new Error("The copy of the database's files could not be unpacked.");
}

async function recover(recovery: Recovery, paths: ClusterPaths, logDir: string): Promise<void> {
  const { until, onProgress } = recovery;
  // `trust`, because the cluster has the original's password. Only its owner can enter the socket's folder.
  const accessFile = join(paths.socketDir, "access.conf");
  writeFileSync(accessFile, "local all all trust\n", { mode: 0o644 });
  const serverSettings = {
    hba_file: accessFile,
    // Ready only once it accepts writes.
    hot_standby: "off",
    restore_command: `cp ${quoteForShell(logDir).replaceAll("%", "%%")}/%f "%p"`,
    recovery_target_action: "promote",
    ...(until === null ? {} : { recovery_target_time: until.toISOString().replace("T", " ").replace("Z", "+00") }),
  };
  const options = { dataDir: paths.dataDir, purpose: "command", onProgress, onLost() {}, serverSettings } as const;
  onProgress("replaying the log");
  const server = await startServer(options, paths).catch((error: unknown) => {
    throw explainRecovery(error);
  });
  if (server === null) throw new Error("Another server runs on the files that are being restored.");
  try {
    const address = { host: paths.socketDir, user: clusterUser, password: readPassword(paths), database: "sluice" };
    await resetPassword(address, recovery.from);
    await recovery.complete(address);
  } finally {
    await stop(server);
    rmSync(accessFile, { force: true });
  }
}

async function resetPassword(address: ServerAddress & { password: string }, from: string): Promise<void> {
  const client = new pg.Client(address);
  await client.connect();
  try {
    await client.query(`alter role ${clusterUser} password ${pg.escapeLiteral(address.password)}`);
    await markUnconfirmed(client, from);
  } finally {
    await client.end();
  }
}

async function stop(server: ChildProcess): Promise<void> {
  server.kill("SIGINT");
  await watchExit(server).done;
}

function explainRecovery(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.includes("before configured recovery target")) return error;
  return new OperatorError(
    "The log in the archive ends before that time.",
    "Use an earlier time, or --to latest. A missing segment has the same effect.",
    { cause: error },
  );
}
