import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { waitUntil } from "./wait-until.ts";

export const templateDatabase = "sluice_template";

const goodbyeMsMax = 2000;

export type TestDatabase = {
  url: string;
  /** Fails if a connection is still open: each test closes its own. */
  close(): Promise<void>;
};

/** A separate, migrated database in some 20 ms: a clone of the template; or an empty one. */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const server = inject("databaseServer");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await query(`create database ${name}${isEmpty ? "" : ` template ${templateDatabase} strategy file_copy`}`);
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

async function query(statement: string): Promise<unknown[]> {
  const client = new pg.Client({ ...inject("databaseServer"), database: "postgres" });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
