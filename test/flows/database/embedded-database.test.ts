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
import { findPostmaster } from "../../../src/platform/database/embedded/postmaster.ts";
import { connectEmbedded } from "../../harness/embedded-query.ts";
import {
  createDataDirectory,
  findFreePort,
  type GatewayProcess,
  spawnGateway,
  startGatewayProcess,
} from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const isRoot = process.getuid?.() === 0;

async function createEnvironment(dataDir: string): Promise<Record<string, string>> {
  return { SLUICE_DATA_DIR: dataDir, SLUICE_PORT: await findFreePort() };
}

function findServer(dataDir: string) {
  return findPostmaster(join(dataDir, "postgres"));
}

async function countAccounts(environment: Record<string, string>): Promise<number> {
  const { stdout, stderr } = await runCommandHere(["account", "list", "--json"], { environment });
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
  const commandLines = processes.map(readCommandLine);
  expect(commandLines.some((line) => line.includes(data.path))).toBe(true);
  expect(commandLines.some((line) => line.includes(password))).toBe(false);
  const { processId } = findServer(data.path) ?? {};
  const settings = readFileSync(`/proc/${processId}/cmdline`, "utf8").split("\0");
  expect(settings).toContain("listen_addresses=");
});

/** Of a process that may have ended since it was listed. */
function readCommandLine(processId: string): string {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s stops the database cleanly and the process exits with 0",
  async (signal) => {
    using data = createPreparedDirectory();
    const environment = await createEnvironment(data.path);
    const gateway = await startGatewayProcess({ environment });
    gateway.kill(signal);
    expect(await gateway.exited).toBe(0);
    expect(findServer(data.path)).toBeNull();
    expect(readFileSync(join(data.path, "postgres.log"), "utf8")).toContain("database system is shut down");
  },
);

test("after kill -9 nothing is lost and the next start recovers", async () => {
  using data = createPreparedDirectory();
  const environment = await createEnvironment(data.path);
  const killed = await startGatewayProcess({ environment });
  await runCommandHere(["account", "create", "--email", "a@example.com"], { environment });
  killed.kill("SIGKILL");
  await killed.exited;
  await using _next = await startGatewayProcess({ environment });
  expect(await countAccounts(environment)).toBe(2);
});

test("a database left running by a killed gateway is reused with nothing lost", { tags: "extended" }, async () => {
  using data = createDataDirectory();
  // Without setpriv the database does not end with its gateway, as on other systems.
  const programs = mkdtempSync(join(tmpdir(), "sluice-programs-"));
  for (const name of ["unshare", "true", "env"]) {
    symlinkSync(execFileSync("which", [name]).toString().trim(), join(programs, name));
  }
  const environment = { ...(await createEnvironment(data.path)), PATH: programs };
  const killed = await startGatewayProcess({ environment });
  await runCommandHere(["account", "create", "--email", "a@example.com"], { environment });
  const orphan = findServer(data.path);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(findServer(data.path)).toMatchObject({ processId: orphan?.processId, owner: null });
  await using _next = await startGatewayProcess({ environment });
  expect(findServer(data.path)?.processId).not.toBe(orphan?.processId);
  expect(await countAccounts(environment)).toBe(2);
  rmSync(programs, { recursive: true });
});

test("a database that is killed under a running gateway is restarted", async () => {
  using data = createPreparedDirectory();
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
  using data = createPreparedDirectory();
  const environment = await createEnvironment(data.path);
  await using first = await startGatewayProcess({ environment });
  const second = spawnGateway({ environment: await createEnvironment(data.path) });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`Another gateway (process ${first.processId}) already runs`);
  expect(await isServing(environment)).toBe(true);
});

test("a second gateway on the same directory by another path is refused, too", { tags: "extended" }, async () => {
  using data = createPreparedDirectory();
  using other = createDataDirectory();
  const link = join(other.path, "link");
  symlinkSync(data.path, link);
  await using _first = await startGatewayProcess({ environment: await createEnvironment(data.path) });
  const second = spawnGateway({ environment: await createEnvironment(link) });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain("already runs on the data directory");
});

test("a stale process id that now belongs to another program does not block the next start", {
  tags: "extended",
}, async () => {
  using data = createPreparedDirectory();
  const environment = await createEnvironment(data.path);
  const first = await startGatewayProcess({ environment });
  const pidFile = join(data.path, "postgres", "postmaster.pid");
  const lines = readFileSync(pidFile, "utf8").split("\n");
  first.kill("SIGTERM");
  await first.exited;
  writeFileSync(pidFile, [process.pid, ...lines.slice(1)].join("\n"), { mode: 0o600 });
  await using _next = await startGatewayProcess({ environment });
  expect(await isServing(environment)).toBe(true);
});

test("a busy port is reported, with a command that avoids it, and the database is stopped again", async () => {
  using data = createPreparedDirectory();
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

test("a data directory with a long path works", { tags: "extended" }, async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(join(data.path, "long".repeat(30)));
  await using _gateway = await startGatewayProcess({ environment });
  expect(await isServing(environment)).toBe(true);
});

test("a killed attempt to create the database leaves nothing that blocks the next", { tags: "extended" }, async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  const killed = spawnGateway({ environment });
  await waitUntil("the attempt", () => readdirSync(data.path).some((name) => name.startsWith("postgres-new-")));
  killed.kill("SIGKILL");
  await killed.exited;
  await using _next = await startGatewayProcess({ environment });
  expect(readdirSync(data.path).filter((name) => name.startsWith("postgres-new-"))).toEqual([]);
});

test.runIf(isRoot)("a user other than root can run it too", { tags: "extended" }, async () => {
  using data = createDataDirectory();
  const environment = await createEnvironment(data.path);
  const prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];
  await using _gateway = await startGatewayProcess({ environment, prefix });
  expect(await isServing(environment)).toBe(true);
});

/** Starts a gateway as a root that may not create user namespaces, as in many containers. */
async function spawnWithoutNamespaces(environment: Record<string, string>): Promise<GatewayProcess> {
  // The second shell has the rights that the first one lost before its users were mapped.
  const script = `read go; exec sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"`;
  const gateway = spawnGateway({ environment, prefix: ["unshare", "--user", "sh", "-c", script, "sh"] });
  const folder = `/proc/${gateway.processId}`;
  await waitUntil("the namespace", () => readFileSync(`${folder}/cmdline`, "utf8").startsWith("sh\0"));
  for (const map of ["uid_map", "gid_map"]) writeFileSync(`${folder}/${map}`, "0 0 4294967295");
  gateway.write("go\n");
  return gateway;
}

const asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
const canNobodyEnter = spawnSync("setpriv", [...asNobody, "test", "-x", join(repositoryDir, "src")]).status === 0;

test.runIf(isRoot)(
  "without user namespaces, root runs the database as the user nobody",
  { tags: "extended" },
  async () => {
    using data = createDataDirectory();
    const environment = await createEnvironment(data.path);
    await using gateway = await spawnWithoutNamespaces(environment);
    if (canNobodyEnter) {
      await waitUntil("the gateway serves", () => isServing(environment));
      expect(statSync(join(data.path, "postgres")).uid).toBe(65_534);
      expect((statSync(data.path).mode & 0o777).toString(8)).toBe("700");
    } else {
      await gateway.exited;
      expect(gateway.output()).toContain("the user nobody cannot enter");
    }
  },
);

test.runIf(isRoot)("without user namespaces, root gets an error if the user nobody cannot enter", async () => {
  using data = createDataDirectory();
  const gateway = await spawnWithoutNamespaces(await createEnvironment(join(data.path, "private", "data")));
  expect(await gateway.exited).toBe(1);
  expect(gateway.output()).toMatch(/PostgreSQL refuses to run as root.*the user nobody cannot enter/);
});

/** A mounted disk of the given size. */
function createDisk(megabytes: number): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "sluice-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  return {
    path,
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", path]);
      rmSync(path, { recursive: true });
    },
  };
}

test.runIf(isRoot)("a full disk is reported before anything is written to it", async () => {
  using disk = createDisk(40);
  const gateway = spawnGateway({ environment: await createEnvironment(join(disk.path, "data")) });
  expect(await gateway.exited).toBe(1);
  expect(gateway.output()).toContain(`The disk that holds ${join(disk.path, "data")} is full`);
  expect(readdirSync(join(disk.path, "data"))).not.toContain("postgres");
});

test.runIf(isRoot)(
  "a disk that fills up under a running gateway loses nothing, and service resumes once there is room",
  async () => {
    using disk = createDisk(160);
    const dataDir = join(disk.path, "data");
    const environment = await createEnvironment(dataDir);
    await using _gateway = await startGatewayProcess({ environment });
    const client = await connectEmbedded(dataDir);
    await client.query("create table notes (text text)");
    spawnSync("dd", ["if=/dev/zero", `of=${join(disk.path, "filler")}`, "bs=64k"]);
    const insert = () =>
      client.query("insert into notes values (repeat('x', 1500))").then(
        () => null,
        (error: { code?: string }) => error.code,
      );
    let acknowledged = 0;
    let refusal: string | null | undefined = null;
    while (refusal === null && acknowledged < 10_000) {
      refusal = await insert();
      if (refusal === null) acknowledged += 1;
    }
    expect(refusal).toBe("53100");
    expect(await isServing(environment)).toBe(true);
    rmSync(join(disk.path, "filler"));
    expect(await insert()).toBeNull();
    const { rows } = await client.query("select count(*)::integer as count from notes");
    expect(rows).toEqual([{ count: acknowledged + 1 }]);
    await client.end();
  },
);
