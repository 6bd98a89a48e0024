import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import pg from "pg";
import { inject } from "vitest";
import { waitUntil } from "./wait-until.ts";

/** What a new database may contain; all but nothing is cloned from a template. */
export const templates = { schema: "sluice_template", sandbox: "sluice_sandbox_template" };

const goodbyeMsMax = 2000;

export type TestDatabase = {
  url: string;
  /** Fails if a connection is still open: each test closes its own. */
  close(): Promise<void>;
};

/** A separate database in some 20 ms: empty, with the schema, or as after the first start of a sandbox. */
export async function createTestDatabase({
  content = "schema",
}: {
  content?: "nothing" | keyof typeof templates;
} = {}): Promise<TestDatabase> {
  const server = inject("databaseServer");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const origin = content === "nothing" ? "" : ` template ${templates[content]} strategy file_copy`;
  await query(`create database ${name}${origin}`);
  return {
    url: presentSocketUrl(server, name),
    async close() {
      const listLeft = () => query(`select pid, query from pg_stat_activity where datname = '${name}'`);
      // The server takes a moment to remove a closed connection.
      const isClear = async (): Promise<boolean> => (await listLeft()).length === 0;
      await waitUntil("the end of all connections", isClear, goodbyeMsMax).catch(async () => {
        throw new Error(`Connections left open: ${JSON.stringify(await listLeft())}`);
      });
      // Thousands of them would fill the disk before the run ends.
      await query(`drop database ${name}`);
    },
  };
}

/** A DATABASE_URL for a server that listens on a socket only. */
export function presentSocketUrl(server: { host: string; user: string; password: string }, database: string): string {
  return `postgres://${server.user}:${server.password}@localhost/${database}?host=${encodeURIComponent(server.host)}`;
}

let administration: Promise<pg.Client> | null = null;

/** One connection for all files of a process: a new one for each statement would take as long as the statement. */
async function query(statement: string): Promise<unknown[]> {
  administration ??= connect().catch(failToConnect);
  const client = await administration;
  return (await client.query(statement)).rows;
}

/** The next statement tries again. */
function failToConnect(error: unknown): never {
  administration = null;
  throw error;
}

async function connect(): Promise<pg.Client> {
  // The process may end while it is open.
  const stream = () => new Socket().unref();
  const client = new pg.Client({ ...inject("databaseServer"), database: "postgres", stream });
  // The next statement connects again.
  client.on("error", () => {
    administration = null;
  });
  await client.connect();
  return client;
}
