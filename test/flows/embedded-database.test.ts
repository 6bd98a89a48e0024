import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findPostmaster } from "../../src/platform/database/embedded/postmaster.ts";
import {
  createDataDirectory,
  findFreePort,
  runCommand,
  spawnGateway,
  startGatewayProcess,
} from "../harness/gateway-process.ts";
import { waitUntil } from "../harness/wait-until.ts";

const isRoot = process.getuid?.() === 0;

async function createEnvironment(dataDir: string): Promise<Record<string, string>> {
  return { SLUICE_DATA_DIR: dataDir, SLUICE_PORT: await findFreePort() };
}

function findServer(dataDir: string) {
  return findPostmaster(join(dataDir, "postgres"));
}

async function countAccounts(environment: Record<string, string>): Promise<number> {
  const { stdout, stderr } = await runCommand(["account", "list", "--json"], { environment });
  expect(stderr).toBe("");
  return JSON.parse(stdout).length;
}

async function isServing(environment: Record<string, string>): Promise<boolean> {
  const response = await fetch(`http://localhost:${environment.SLUICE_PORT}/readyz`).catch(() => null);
  return response?.status === 200;
}

test("the data is private, reachable on this machine only, and its password is on no command line", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  await using _gateway = await startGatewayProcess({ environment });
  const modes = ["", "postgres", "run", "postgres-password", "postgres.log"].map((name) =>
    (statSync(join(data.path, name)).mode & 0o777).toString(8),
  );
  expect(modes).toEqual(["700", "700", "700", "600", "600"]);
  const password = readFileSync(join(data.path, "postgres-password"), "utf8");
  expect(password.length).toBeGreaterThan(20);
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const commandLines = processes.map((id) => spawnSync("cat", [`/proc/${id}/cmdline`]).stdout.toString());
  expect(commandLines.some((line) => line.includes(data.path))).toBe(true);
  expect(commandLines.some((line) => line.includes(password))).toBe(false);
  const { processId } = findServer(data.path) ?? {};
  const settings = readFileSync(`/proc/${processId}/cmdline`, "utf8").split("\0");
  expect(settings).toContain("listen_addresses=");
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s stops the database cleanly and the process ends with 0",
  async (signal) => {
    using data = createDataDirectory();
    const environment = await createEnvironment(data.path);
    const gateway = await startGatewayProcess({ environment });
    gateway.kill(signal);
    expect(await gateway.exited).toBe(0);
    expect(findServer(data.path)).toBeNull();
    expect(readFileSync(join(data.path, "postgres.log"), "utf8")).toContain("database system is shut down");
  },
);

test("after kill -9 nothing is lost and the next start works by itself", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  const killed = await startGatewayProcess({ environment });
  await runCommand(["account", "create", "--email", "a@example.com"], { environment });
  killed.kill("SIGKILL");
  await killed.exited;
  await using _next = await startGatewayProcess({ environment });
  expect(await countAccounts(environment)).toBe(2);
});

test("a database left running by a killed gateway is taken over with nothing lost", async () => {
  using data = createDataDirectory();
  // Without setpriv the database cannot be told to end with its gateway: the way it is on other systems.
  const programs = mkdtempSync(join(tmpdir(), "sluice-programs-"));
  for (const name of ["unshare", "true", "env"]) {
    symlinkSync(execFileSync("which", [name]).toString().trim(), join(programs, name));
  }
  const environment = { ...(await createEnvironment(data.path)), PATH: programs };
  const killed = await startGatewayProcess({ environment });
  await runCommand(["account", "create", "--email", "a@example.com"], { environment });
  const orphan = findServer(data.path);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(findServer(data.path)).toMatchObject({ processId: orphan?.processId, owner: null });
  await using _next = await startGatewayProcess({ environment });
  expect(findServer(data.path)?.processId).not.toBe(orphan?.processId);
  expect(await countAccounts(environment)).toBe(2);
  rmSync(programs, { recursive: true });
});

test("a database that is killed under a running gateway comes back by itself", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  await using gateway = await startGatewayProcess({ environment });
  const first = findServer(data.path)?.processId ?? 0;
  process.kill(first, "SIGKILL");
  await waitUntil("another database server", () => {
    const server = findServer(data.path);
    return server !== null && server.processId !== first && server.isReady;
  });
  await waitUntil("the gateway serves again", () => isServing(environment));
  expect(gateway.output()).toContain("PostgreSQL stopped unexpectedly");
});

test("a second gateway on the same data directory is refused, and the first one goes on", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  await using first = await startGatewayProcess({ environment });
  const second = spawnGateway({ environment: await createEnvironment(data.path) });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`Another gateway (process ${first.processId}) already runs`);
  expect(await isServing(environment)).toBe(true);
});

test("a busy port is named, with a command that avoids it, and the database is stopped again", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  const port = Number(environment.SLUICE_PORT);
  const other = createServer().listen(port, "localhost");
  const gateway = spawnGateway({ environment });
  expect(await gateway.exited).toBe(1);
  expect(gateway.output()).toContain(`Port ${port} is in use`);
  expect(gateway.output()).toContain(`SLUICE_PORT=${port + 1} npm start`);
  expect(findServer(data.path)).toBeNull();
  other.close();
});

test("a data directory of a newer PostgreSQL is refused untouched", async () => {
  using data = createDataDirectory();
  const cluster = join(data.path, "postgres");
  mkdirSync(cluster);
  writeFileSync(join(cluster, "PG_VERSION"), "19\n");
  const gateway = spawnGateway({ environment: await createEnvironment(data.path) });
  expect(await gateway.exited).toBe(1);
  expect(gateway.output()).toContain("was written by PostgreSQL 19");
  expect(readdirSync(cluster)).toEqual(["PG_VERSION"]);
});

test("a data directory that cannot be a folder is a clear error", async () => {
  using data = createDataDirectory();
  const file = join(data.path, "file");
  writeFileSync(file, "");
  const gateway = spawnGateway({ environment: await createEnvironment(file) });
  expect(await gateway.exited).toBe(1);
  expect(gateway.output()).toContain(`${file} is not a folder`);
});

test("a data directory with a long path works", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(join(data.path, "long".repeat(30)));
  await using _gateway = await startGatewayProcess({ environment });
  expect(await isServing(environment)).toBe(true);
});

test("an attempt to create the database that was killed half-way leaves nothing that matters", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  const killed = spawnGateway({ environment });
  await waitUntil("the attempt", () => readdirSync(data.path).some((name) => name.startsWith("postgres-new-")));
  killed.kill("SIGKILL");
  await killed.exited;
  await using _next = await startGatewayProcess({ environment });
  expect(readdirSync(data.path).filter((name) => name.startsWith("postgres-new-"))).toEqual([]);
});

test.runIf(isRoot)("a user who is not root can run it too", async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  const prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];
  await using _gateway = await startGatewayProcess({ environment, prefix });
  expect(await isServing(environment)).toBe(true);
});
