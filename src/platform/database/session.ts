import pg from "pg";
import { type DatabaseAddress, getTypeParser } from "./database.ts";

/**
 * A connection of its own, beside the pool: it waits for nobody, and its statements are prepared once. It connects when
 * it is first needed and again after it broke; the query during which it broke fails, and may or may not have happened.
 */
export type Session = {
  query<Row>(statement: { name: string; text: string }, values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

const connectMsMax = 5000;
const statementMsMax = 30_000;
/** The server ends a statement before this; past it, the server itself must be gone. */
const answerMsMax = 35_000;

export function createSession(address: DatabaseAddress): Session {
  let connecting: Promise<pg.Client> | null = null;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      ...address,
      connectionTimeoutMillis: connectMsMax,
      statement_timeout: statementMsMax,
      query_timeout: answerMsMax,
      application_name: "sluice-ledger",
      types: { getTypeParser },
    });
    // The query that runs meanwhile fails with the same error, and tells it.
    client.on("error", () => discard(client));
    client.on("end", () => discard(client));
    await client.connect();
    return client;
  }

  let current: pg.Client | null = null;
  function discard(client: pg.Client): void {
    if (current !== client) return;
    current = null;
    connecting = null;
  }

  async function getClient(): Promise<pg.Client> {
    connecting ??= connect();
    try {
      current = await connecting;
      return current;
    } catch (error) {
      connecting = null;
      throw error;
    }
  }

  return {
    async query({ name, text }, values) {
      const client = await getClient();
      try {
        return (await client.query({ name, text, values: [...values] })).rows;
      } catch (error) {
        // An answer that is late would be taken for that of the next query.
        if (error instanceof Error && error.message === "Query read timeout") {
          discard(client);
          client.end().catch(() => {});
        }
        throw error;
      }
    },
    async close() {
      const client = await connecting?.catch(() => null);
      connecting = null;
      current = null;
      await client?.end();
    },
  };
}
