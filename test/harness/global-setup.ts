import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { builds } from "../../scripts/builds.mjs";
import { initializeCluster, prepareDataDirectory } from "../../src/platform/database/embedded/cluster-directory.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/embedded-postgres.ts";
import { findPostgresBinaries } from "../../src/platform/database/embedded/postgres-binaries.ts";
import { chooseLaunch } from "../../src/platform/database/embedded/unprivileged.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { dataParent } from "./data-parent.ts";
import { presentSocketUrl, templateDatabase } from "./test-database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server of all test databases. */
    databaseServer: { host: string; user: string; password: string };
    /** A data directory with a database that no server has run on, for `createPreparedDirectory`. */
    preparedDirectory: string;
  }
}

/** Starts one PostgreSQL for the whole run and migrates a template, which every test file then clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests start the built gateway, as users do.
  execFileSync(process.execPath, [builds.server.script], { stdio: ["ignore", "ignore", "inherit"] });
  const dataDir = mkdtempSync(join(dataParent, "sluice-test-"));
  const preparedDir = mkdtempSync(join(dataParent, "sluice-prepared-"));
  await createCluster(dataDir);
  execFileSync("cp", ["-a", `${dataDir}/.`, preparedDir]);
  const server = await openEmbeddedPostgres({
    dataDir,
    purpose: "gateway",
    onProgress: () => {},
    onLost: (error) => console.error("The test database is lost.", error),
    // The run ends with the data, so nothing needs to reach the disk. Durability tests start their own servers.
    // A database lives for seconds: nothing has to be vacuumed.
    serverSettings: {
      ...{ fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off", jit: "off" },
      max_connections: "400",
    },
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

/** The first step of a first start. */
async function createCluster(dataDir: string): Promise<void> {
  const paths = prepareDataDirectory(dataDir);
  const binDir = findPostgresBinaries();
  await initializeCluster({ paths, binDir, launch: chooseLaunch({ binDir, dataDir }) });
}

async function createTemplate(server: { host: string; user: string; password: string }): Promise<void> {
  const client = new pg.Client({ ...server, database: "postgres" });
  await client.connect();
  // Thousands of connections would each hash the password 4096 times.
  await client.query("set scram_iterations = 1");
  await client.query(
    `alter role ${client.escapeIdentifier(server.user)} password ${client.escapeLiteral(server.password)}`,
  );
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const address = { connectionString: presentSocketUrl(server, templateDatabase) };
  // An open connection to the template would prevent cloning: this one is closed.
  await migrate(address);
}
