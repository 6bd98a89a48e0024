import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { builds } from "../../scripts/builds.mjs";
import { initializeCluster, prepareDataDirectory } from "../../src/platform/database/embedded/cluster-directory.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/embedded-postgres.ts";
import { findPostgresBinaries } from "../../src/platform/database/embedded/postgres-binaries.ts";
import { chooseLaunch } from "../../src/platform/database/embedded/unprivileged.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { presentSocketUrl, templateDatabase } from "./test-database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server of all test databases. */
    databaseServer: { host: string; user: string; password: string };
    /** A data directory with a database that no server has run on, for `createPreparedDirectory`. */
    preparedDirectory: string;
  }
}

const memoryDir = "/dev/shm";
/** Dozens of clones and a gigabyte of write-ahead log, with as much to spare. */
const memoryBytesMin = 4 * 1024 ** 3;

/** Starts one PostgreSQL for the whole run and migrates a template, which every test file then clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests start the built gateway, as users do.
  execFileSync(process.execPath, [builds.server.script], { stdio: ["ignore", "ignore", "inherit"] });
  const parentDir = chooseParentDirectory();
  const dataDir = mkdtempSync(join(parentDir, "sluice-test-"));
  const preparedDir = mkdtempSync(join(parentDir, "sluice-prepared-"));
  await createCluster(dataDir);
  execFileSync("cp", ["-a", `${dataDir}/.`, preparedDir]);
  const server = await openEmbeddedPostgres({
    dataDir,
    purpose: "gateway",
    onProgress: () => {},
    onLost: (error) => console.error("The test database is lost.", error),
    // The run ends with the data, so nothing needs to reach the disk. Durability tests start their own servers.
    serverSettings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  });
  if (!("host" in server.address)) throw new Error("The test server has no socket.");
  const { host, user, password } = server.address;
  await createTemplate({ host, user, password });
  project.provide("databaseServer", { host, user, password });
  project.provide("preparedDirectory", preparedDir);
  return async () => {
    await server.close();
    for (const directory of [dataDir, preparedDir]) rmSync(directory, { recursive: true, force: true });
  };
}

/** RAM if there is enough: on a disk, creating a clone's thousand files takes ten times the CPU time. */
function chooseParentDirectory(): string {
  if (!existsSync(memoryDir)) return tmpdir();
  const { bavail, bsize } = statfsSync(memoryDir);
  return bavail * bsize >= memoryBytesMin ? memoryDir : tmpdir();
}

/** The first step of a first start. */
async function createCluster(dataDir: string): Promise<void> {
  const paths = prepareDataDirectory(dataDir);
  const binDir = findPostgresBinaries();
  await initializeCluster({ paths, binDir, launch: chooseLaunch({ binDir, dataDir }) });
}

async function createTemplate(server: { host: string; user: string; password: string }): Promise<void> {
  const client = new pg.Client({ ...server, database: "postgres" });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const address = { connectionString: presentSocketUrl(server, templateDatabase) };
  // An open connection to the template would prevent cloning: this one is closed.
  await migrate(address);
}
