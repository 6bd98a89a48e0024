import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { dataParent } from "../data-parent.ts";
import { findFreePort } from "../gateway-process.ts";
import { waitUntil } from "../wait-until.ts";

/** The folder of the system's own PostgreSQL programs, or `null` if it is not installed. */
export const externalBinaries = globSync("/usr/lib/postgresql/*/bin").at(-1) ?? null;

export type ExternalPostgres = AsyncDisposable & {
  url: string;
  version: string;
  /** Ends every session at once and restarts the server, as an upgrade does. */
  restart(): Promise<void>;
};

/** A PostgreSQL as operators run it: another version than ours, over TCP, with a password. */
export async function startExternalPostgres(binDir: string): Promise<ExternalPostgres> {
  const folder = mkdtempSync(join(dataParent, "sluice-external-"));
  const cluster = join(folder, "cluster");
  const password = createCluster({ binDir, folder, cluster });
  const port = await findFreePort();
  const run = () => runPostgres({ binDir, folder, cluster, port, settings: [] });
  const awaitVersion = () => waitUntil("the external PostgreSQL", () => readVersion(url));
  let server = run();
  const url = `postgres://operator:${password}@127.0.0.1:${port}/postgres`;
  return {
    url,
    version: await awaitVersion(),
    async restart() {
      await server.end("SIGINT");
      server = run();
      await awaitVersion();
    },
    async [Symbol.asyncDispose]() {
      await server.end("SIGINT");
      rmSync(folder, { recursive: true });
    },
  };
}

/** Root may not run PostgreSQL. */
const asOther = process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534"] : [];

/** Runs one of PostgreSQL's programs to its end. */
export function runProgram(...words: string[]): void {
  const [program = "", ...rest] = [...asOther, ...words];
  execFileSync(program, rest, { stdio: "ignore" });
}

/** Returns the password of `operator`. */
export function createCluster({
  binDir,
  folder,
  cluster,
}: {
  binDir: string;
  folder: string;
  cluster: string;
}): string {
  const password = randomBytes(12).toString("hex");
  writeFileSync(join(folder, "password"), password, { mode: 0o600 });
  runProgram(
    join(binDir, "initdb"),
    ...["-D", cluster, "-U", "operator", `--pwfile=${join(folder, "password")}`, "--auth=scram-sha-256"],
    ...["-E", "UTF8", "--locale=C", "--no-sync"],
  );
  return password;
}

type ClusterToRun = { binDir: string; folder: string; cluster: string; port: string; settings: readonly string[] };

export type RunningPostgres = { isRunning(): boolean; end(signal: "SIGINT" | "SIGKILL"): Promise<void> };

/** `settings` are of the form `name=value`. */
export function runPostgres({ binDir, folder, cluster, port, settings }: ClusterToRun): RunningPostgres {
  const all = ["listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`, ...settings];
  const [program = "", ...words] = [
    ...[...asOther, join(binDir, "postgres"), "-D", cluster, "-p", port],
    ...all.flatMap((setting) => ["-c", setting]),
  ];
  const server = spawn(program, words, { stdio: "ignore" });
  const exited = new Promise((settle) => server.once("exit", settle));
  return {
    isRunning: () => server.exitCode === null && server.signalCode === null,
    async end(signal) {
      server.kill(signal);
      await exited;
    },
  };
}

export async function readVersion(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query("show server_version")).rows[0].server_version;
  } catch {
    // Not up yet.
    return null;
  } finally {
    await client.end();
  }
}
