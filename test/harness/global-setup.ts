import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { builds } from "../../scripts/builds.mjs";
import { prepareFirstRun } from "../../src/app/prepare-first-run.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { createDatabase, type DatabaseAddress } from "../../src/platform/database/database.ts";
import { initializeCluster, prepareDataDirectory } from "../../src/platform/database/embedded/cluster-directory.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/embedded-postgres.ts";
import { findPostgresBinaries } from "../../src/platform/database/embedded/postgres-binaries.ts";
import { chooseLaunch } from "../../src/platform/database/embedded/unprivileged.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/open-database.ts";
import { dataParent } from "./data-parent.ts";
import { presentSocketUrl, templates } from "./test-database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server of all test databases. */
    databaseServer: { host: string; user: string; password: string };
    /** A data directory with a migrated, empty database and no other files, for `createPreparedDirectory`. */
    preparedDirectory: string;
  }
}

/** Starts one PostgreSQL for the whole run and fills the templates, which every test file then clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests start the built gateway, as users do.
  execFileSync(process.execPath, [builds.server.script], { stdio: ["ignore", "ignore", "inherit"] });
  const dataDir = mkdtempSync(join(dataParent, "sluice-test-"));
  const preparedDir = mkdtempSync(join(dataParent, "sluice-prepared-"));
  await createCluster(dataDir);
  execFileSync("cp", ["-a", `${dataDir}/.`, preparedDir]);
  await migratePrepared(preparedDir);
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
  await createTemplates({ host, user, password });
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

/** As the command `migrate` does, which takes a third of a gateway's first start. */
async function migratePrepared(dataDir: string): Promise<void> {
  const { address, close } = await openDatabase({
    ...{ url: undefined, dataDir, purpose: "command", connectionsMax: 1 },
    onProgress: () => {},
    onConnectionError: () => {},
    onLost: (error) => console.error("The prepared database is lost.", error),
  });
  await migrate(address);
  await close();
  // Tests look for lines of their own servers.
  rmSync(join(dataDir, "postgres.log"));
}

async function createTemplates(server: { host: string; user: string; password: string }): Promise<void> {
  const client = new pg.Client({ ...server, database: "postgres" });
  await client.connect();
  // Thousands of connections would each hash the password 4096 times.
  await client.query("set scram_iterations = 1");
  await client.query(
    `alter role ${client.escapeIdentifier(server.user)} password ${client.escapeLiteral(server.password)}`,
  );
  await client.query(`create database ${templates.schema}`);
  await migrate({ connectionString: presentSocketUrl(server, templates.schema) });
  await client.query(`create database ${templates.sandbox} template ${templates.schema}`);
  await client.end();
  await prepareSandbox({ connectionString: presentSocketUrl(server, templates.sandbox) });
}

/** What the first start of every gateway would do, which takes as long as the rest of a start. */
async function prepareSandbox(address: DatabaseAddress): Promise<void> {
  // An open connection to a template prevents cloning: this one is closed.
  const database = createDatabase({ address, connectionsMax: 1, onConnectionError: () => {} });
  const ids = createIdSource({ clock: systemClock, randomBytes });
  await prepareFirstRun({ database, clock: systemClock, ids, randomBytes }, "USD");
  await database.destroy();
}
