import pg from "pg";
import { type DatabaseAddress, getTypeParser, writeProbe } from "./database.ts";
import { doubt, locate } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { createLineWatch, cutLine, endLine, lineOptions } from "./line-watch.ts";
import { createGivenUp, isDatabaseUnavailable } from "./unavailable.ts";

/** A statement that answers with rows, and that every connection prepares once, under its name. */
export type Statement = { name: string; text: string };
export type StatementValue = string | null;

/**
 * A connection of its own, beside the pool: it waits for nobody, and its statements are prepared once. It connects when
 * it is first needed and again after it broke; the query during which it broke fails, and may or may not have happened.
 */
export type Session = {
  query<Row>(statement: Statement, values: StatementValue[]): Promise<Row[]>;
  /** Throws when its server does not answer, or takes no writes. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** The server ends a statement before this; past it, the server itself must be gone. */
const answerMsMax = databaseLimits.statementMsMax + databaseLimits.suspectMsMax;

type Link = { client: pg.Client; endLate: NodeJS.Timeout };

/** When `abandoned` says so, it is cut, and connects no more. */
export function createSession(
  address: DatabaseAddress,
  abandoned: AbortSignal = new AbortController().signal,
): Session {
  const watch = createLineWatch({ address });
  let connecting: Promise<Link> | null = null;
  let current: Link | null = null;
  let running = 0;
  const giveUp = (): void => {
    if (current !== null) cutLine(current.client, createGivenUp());
  };
  abandoned.addEventListener("abort", giveUp);

  async function connect(): Promise<Link> {
    if (abandoned.aborted) throw createGivenUp();
    const client = createClient(address);
    // The query that runs meanwhile fails with the same error, and tells it.
    client.on("error", () => discard(client));
    client.on("end", () => discard(client));
    await watch.connect(client);
    return { client, endLate: setTimeout(() => endIfLate(client), answerMsMax).unref() };
  }

  /** Whatever waits for this connection is told that it ended; an answer that comes after all meets nobody. */
  function endIfLate(client: pg.Client): void {
    if (running > 0) endNow(client);
  }

  function endNow(client: pg.Client): void {
    if (current?.client !== client) return;
    discard(client);
    void endLine(client);
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
      if (!abandoned.aborted) doubt(address);
      throw error;
    }
  }

  async function ask<Row>({ client, endLate }: Link, statement: Statement, values: StatementValue[]): Promise<Row[]> {
    // One timer for all of them: to begin it anew costs less than one for each.
    endLate.refresh();
    running += 1;
    try {
      const { rows } = await watch.await(client, client.query({ ...statement, values }));
      // What a statement tells is said where it is written.
      return rows as Row[];
    } catch (error) {
      // Also where it leads to a server that takes no writes any more: the next one may lead to one that does.
      if (isDatabaseUnavailable(error)) {
        endNow(client);
        if (!abandoned.aborted) doubt(address);
      }
      throw error;
    } finally {
      running -= 1;
    }
  }

  return {
    query: async (statement, values) => ask(current ?? (await getLink()), statement, values),
    async ping() {
      await ask(current ?? (await getLink()), ping, []);
    },
    async close() {
      const link = await connecting?.catch(() => null);
      connecting = null;
      current = null;
      clearTimeout(link?.endLate);
      if (link) await endLine(link.client);
      await watch.close();
      abandoned.removeEventListener("abort", giveUp);
    },
  };
}

function createClient(address: DatabaseAddress): pg.Client {
  const client = new pg.Client({
    ...locate(address),
    ...lineOptions,
    statement_timeout: databaseLimits.statementMsMax,
    application_name: "sluice-ledger",
    types: { getTypeParser },
  });
  if ("hosts" in address) address.hosts.join(client);
  return client;
}

const ping = { name: "ping", text: writeProbe };
