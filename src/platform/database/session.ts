import pg from "pg";
import { type DatabaseAddress, getTypeParser } from "./database.ts";

/** A statement that answers with rows, and that every connection prepares once, under its name. */
export type Statement = { name: string; text: string };
export type StatementValue = string | null;

/**
 * A connection of its own, beside the pool: it waits for nobody, and its statements are prepared once. It connects when
 * it is first needed and again after it broke; the query during which it broke fails, and may or may not have happened.
 */
export type Session = {
  query<Row>(statement: Statement, values: StatementValue[]): Promise<Row[]>;
  close(): Promise<void>;
};

const connectMsMax = 5000;
const statementMsMax = 30_000;
/** The server ends a statement before this; past it, the server itself must be gone. */
const answerMsMax = 35_000;

type Link = { client: pg.Client; endLate: NodeJS.Timeout };

export function createSession(address: DatabaseAddress): Session {
  let connecting: Promise<Link> | null = null;
  let current: Link | null = null;
  let running = 0;

  async function connect(): Promise<Link> {
    const client = new pg.Client({
      ...address,
      connectionTimeoutMillis: connectMsMax,
      statement_timeout: statementMsMax,
      application_name: "sluice-ledger",
      types: { getTypeParser },
    });
    // The query that runs meanwhile fails with the same error, and tells it.
    client.on("error", () => discard(client));
    client.on("end", () => discard(client));
    await client.connect();
    return { client, endLate: setTimeout(() => endIfLate(client), answerMsMax).unref() };
  }

  /** Whatever waits for this connection is told that it ended; an answer that comes after all meets nobody. */
  function endIfLate(client: pg.Client): void {
    if (running === 0) return;
    discard(client);
    client.end().catch(() => {});
  }

  function discard(client: pg.Client): void {
    if (current?.client !== client) return;
    clearTimeout(current.endLate);
    current = null;
    connecting = null;
  }

  async function getLink(): Promise<Link> {
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
    async query<Row>(statement: Statement, values: StatementValue[]) {
      const { client, endLate } = current ?? (await getLink());
      // One timer for all of them: to begin it anew costs less than one for each.
      endLate.refresh();
      running += 1;
      try {
        const { rows } = await client.query({ ...statement, values });
        // What a statement tells is said where it is written.
        return rows as Row[];
      } finally {
        running -= 1;
      }
    },
    async close() {
      const link = await connecting?.catch(() => null);
      connecting = null;
      current = null;
      clearTimeout(link?.endLate);
      await link?.client.end();
    },
  };
}
