import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { findFreePort } from "../gateway-process.ts";
import { waitUntil } from "../wait-until.ts";

/** The folder of the system's own PostgreSQL programs, or `null` where it is not installed. */
export const externalBinaries = globSync("/usr/lib/postgresql/*/bin").at(-1) ?? null;

export type ExternalPostgres = AsyncDisposable & { url: string; version: string };

/** A PostgreSQL as an operator would run it: another version than ours, over TCP, with a password. */
export async function startExternalPostgres(binDir: string): Promise<ExternalPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-external-"));
  const cluster = join(folder, "cluster");
  const password = randomBytes(12).toString("hex");
  writeFileSync(join(folder, "password"), password, { mode: 0o600 });
  const asOther = process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534"] : [];
  const [initProgram = "", ...initWords] = [
    ...asOther,
    join(binDir, "initdb"),
    ...["-D", cluster, "-U", "operator", `--pwfile=${join(folder, "password")}`, "--auth=scram-sha-256"],
    ...["-E", "UTF8", "--locale=C"],
  ];
  execFileSync(initProgram, initWords, { stdio: "ignore" });
  const port = await findFreePort();
  const [program = "", ...words] = [
    ...asOther,
    join(binDir, "postgres"),
    ...["-D", cluster, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`],
  ];
  const server = spawn(program, words, { stdio: "ignore" });
  const exited = new Promise((settle) => server.once("exit", settle));
  const url = `postgres://operator:${password}@127.0.0.1:${port}/postgres`;
  return {
    url,
    version: await waitUntil("the external PostgreSQL", () => readVersion(url)),
    async [Symbol.asyncDispose]() {
      server.kill("SIGINT");
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}

async function readVersion(url: string): Promise<string | null> {
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
