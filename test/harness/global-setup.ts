import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/embedded-postgres.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { presentSocketUrl, templateDatabase } from "./test-database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server that all test databases live in. */
    databaseServer: { host: string; user: string; password: string };
  }
}

const memoryDir = "/dev/shm";
/** Dozens of clones and a gigabyte of write-ahead log, with as much to spare. */
const memoryBytesMin = 4 * 1024 ** 3;

/** Starts one PostgreSQL for the whole run and migrates a template, which every test file then clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(chooseParentDirectory(), "sluice-test-"));
  const server = await openEmbeddedPostgres({
    dataDir,
    purpose: "gateway",
    onProgress: () => {},
    onLost: (error) => console.error("The test database is lost.", error),
    // The run ends with the data, so nothing needs to reach the disk. Tests of durability start servers of their own.
    serverSettings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  });
  if (!("host" in server.address)) throw new Error("The test server has no socket.");
  const { host, user, password } = server.address;
  await createTemplate({ host, user, password });
  project.provide("databaseServer", { host, user, password });
  return async () => {
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** Memory where there is plenty: on a disk, a clone's thousand files take the processor ten times as long to create. */
function chooseParentDirectory(): string {
  if (!existsSync(memoryDir)) return tmpdir();
  const { bavail, bsize } = statfsSync(memoryDir);
  return bavail * bsize >= memoryBytesMin ? memoryDir : tmpdir();
}

async function createTemplate(server: { host: string; user: string; password: string }): Promise<void> {
  const client = new pg.Client({ ...server, database: "postgres" });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const address = { connectionString: presentSocketUrl(server, templateDatabase) };
  // An open connection to the template would keep it from being cloned: this one is ended.
  await migrate(address);
}
