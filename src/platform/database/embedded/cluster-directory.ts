import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { OperatorError } from "../../errors/operator-error.ts";
import type { Launch } from "./unprivileged.ts";

/** Paths of the embedded database, in the data directory except for a long socket path. */
export type ClusterPaths = {
  dataDir: string;
  clusterDir: string;
  socketDir: string;
  passwordFile: string;
  logFile: string;
};

const postgresMajor = 18;
export const clusterUser = "sluice";

const freeBytesMin = 64 * 1024 * 1024;
/** A socket's path may have 107 bytes on Linux and 103 on macOS; PostgreSQL appends `/.s.PGSQL.5432`. */
const socketDirBytesMax = 85;

export function getClusterPaths(givenDir: string): ClusterPaths {
  // Resolve symbolic links, so that the server of this directory is recognized.
  const dataDir = existsSync(givenDir) ? realpathSync(givenDir) : givenDir;
  const near = join(dataDir, "run");
  const short = join(tmpdir(), `sluice-${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}`);
  return {
    dataDir,
    clusterDir: join(dataDir, "postgres"),
    socketDir: Buffer.byteLength(near) <= socketDirBytesMax ? near : short,
    passwordFile: join(dataDir, "postgres-password"),
    logFile: join(dataDir, "postgres.log"),
  };
}

/** Where the embedded server puts WAL segments to be archived; `undefined` if archiving is off. */
export function locateLogSpool({
  wal_archive,
  data_dir,
}: {
  wal_archive?: string | undefined;
  data_dir: string;
}): string | undefined {
  return wal_archive === undefined ? undefined : join(data_dir, "wal");
}

/** Contains WAL segments during a point-in-time restore. If it exists later, the restore was interrupted. */
export function locateRestoredLog(dataDir: string): string {
  return join(dataDir, "wal-restored");
}

/** Otherwise a start would create an empty database in place of the half-restored one. */
export function requireNoUnfinishedRestore(dataDir: string): void {
  if (!existsSync(locateRestoredLog(dataDir))) return;
  throw new OperatorError(
    `The data directory ${dataDir} is half restored: a restore into it did not finish.`,
    "Run the same `sluice restore` again, which starts over, or use another data_dir (SLUICE_DATA_DIR).",
  );
}

/** Creates the folders, readable by their owner only. */
export function prepareDataDirectory(dataDir: string): ClusterPaths {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    const paths = getClusterPaths(dataDir);
    makeSocketDirectory(paths.socketDir);
    requireKnownVersion(paths.clusterDir);
    return paths;
  } catch (error) {
    throw explainDiskError(error, dataDir);
  }
}

/** The folder may be in the shared temporary directory, where another user could have planted it. */
function makeSocketDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (!found.isDirectory() || (found.uid !== process.getuid?.() && process.getuid?.() !== 0)) {
    throw new OperatorError(`${path} belongs to another user.`, "Remove it, or use a data_dir with a shorter path.");
  }
}

/** A server on a full disk would stop at its first write. */
export function requireFreeSpace(dataDir: string): void {
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < freeBytesMin) throw createDiskFullError(dataDir);
}

function requireKnownVersion(clusterDir: string): void {
  const versionFile = join(clusterDir, "PG_VERSION");
  if (!existsSync(versionFile)) return;
  const found = Number.parseInt(readFileSync(versionFile, "utf8"), 10);
  if (found > postgresMajor) {
    throw new OperatorError(
      `The data directory was written by PostgreSQL ${found}; this Sluice has PostgreSQL ${postgresMajor}.`,
      "Start the newer Sluice that wrote it, or choose another data_dir.",
    );
  }
  if (found < postgresMajor) {
    throw new OperatorError(
      `The data directory was written by PostgreSQL ${found}; this Sluice has PostgreSQL ${postgresMajor}.`,
      "Move the data with pg_dump and pg_restore, or choose another data_dir.",
    );
  }
}

/** Runs `initdb` in a temporary folder and renames it, so that a crash leaves no incomplete cluster. */
export async function initializeCluster(input: { paths: ClusterPaths; binDir: string; launch: Launch }): Promise<void> {
  const { paths, binDir, launch } = input;
  removeAbandonedAttempts(paths.dataDir);
  const attemptDir = join(paths.dataDir, `postgres-new-${process.pid}`);
  const passwordCopy = join(paths.socketDir, `password-${process.pid}`);
  try {
    mkdirSync(attemptDir, { mode: 0o700 });
    writeFileSync(passwordCopy, readPassword(paths), { mode: 0o600 });
    for (const path of [paths.socketDir, attemptDir, passwordCopy]) launch.handOver(path);
    await runInitdb({ binDir, launch, attemptDir, passwordCopy, dataDir: paths.dataDir });
    renameSync(attemptDir, paths.clusterDir);
  } catch (error) {
    // Another process created the cluster first.
    if (existsSync(join(paths.clusterDir, "PG_VERSION"))) return;
    throw explainDiskError(error, paths.dataDir);
  } finally {
    rmSync(passwordCopy, { force: true });
    rmSync(attemptDir, { recursive: true, force: true });
  }
}

async function runInitdb(input: {
  binDir: string;
  launch: Launch;
  attemptDir: string;
  passwordCopy: string;
  dataDir: string;
}): Promise<void> {
  const [program = "", ...words] = [
    ...input.launch.prefix,
    join(input.binDir, "initdb"),
    ...["-D", input.attemptDir, "-U", clusterUser, `--pwfile=${input.passwordCopy}`],
    ...["--auth=scram-sha-256", "--data-checksums", "-E", "UTF8", "--no-instructions"],
    ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
  ];
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "pipe"], env: databaseEnvironment });
  const [complaint, exitCode] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>((settle, reject) => child.once("error", reject).once("exit", settle)),
  ]);
  if (exitCode === 0) return;
  if (complaint.includes("No space left on device")) throw createDiskFullError(input.dataDir);
  throw new OperatorError(
    `PostgreSQL could not create its files: ${complaint.trim().split("\n").at(-1) ?? ""}`,
    "Check that the data directory is on a local disk that you may write to.",
  );
}

/** The server does not inherit our environment, which may contain secrets. */
export const databaseEnvironment = { PATH: "/usr/local/bin:/usr/bin:/bin", TZ: "UTC" };

/** Creates the password on first use. */
export function readPassword(paths: ClusterPaths): string {
  if (!existsSync(paths.passwordFile)) createPassword(paths.passwordFile);
  chmodSync(paths.passwordFile, 0o600);
  return readFileSync(paths.passwordFile, "utf8").trim();
}

/** Written to a draft and linked: the file is complete when it appears, and the first of several processes wins. */
function createPassword(path: string): void {
  const draft = `${path}-${process.pid}`;
  writeFileSync(draft, randomBytes(24).toString("base64url"), { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeAbandonedAttempts(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const maker = /^postgres-new-(\d+)$/.exec(name)?.[1];
    if (maker !== undefined && !isAlive(Number(maker))) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    // No such process.
    return false;
  }
}

export function hasCluster(paths: ClusterPaths): boolean {
  return existsSync(join(paths.clusterDir, "PG_VERSION"));
}

export function hasEmbeddedDatabase(dataDir: string): boolean {
  return hasCluster(getClusterPaths(dataDir));
}

/** The size of PostgreSQL's log, so that a failed start only quotes newer lines. */
export function measureLog(paths: ClusterPaths): number {
  return existsSync(paths.logFile) ? statSync(paths.logFile).size : 0;
}

export function createDiskFullError(dataDir: string): OperatorError {
  return new OperatorError(
    `The disk that holds ${dataDir} is full (less than ${freeBytesMin / 1024 / 1024} MB are free).`,
    "Free some space, or set data_dir (SLUICE_DATA_DIR) to a folder on another disk.",
  );
}

function explainDiskError(error: unknown, dataDir: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return createDiskFullError(dataDir);
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new OperatorError(
      `The data directory ${dataDir} cannot be written to.`,
      "Give your user the right to write there, or set data_dir (SLUICE_DATA_DIR) to another folder.",
      { cause: error },
    );
  }
  if (code === "ENOTDIR" || code === "EEXIST") {
    return new OperatorError(`${dataDir} is not a folder.`, "Set data_dir (SLUICE_DATA_DIR) to a folder.", {
      cause: error,
    });
  }
  return error;
}
