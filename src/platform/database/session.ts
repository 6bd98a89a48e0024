import pg from "pg";
import { closeConnection, connectionOptions, createConnectionWatch, destroyConnection } from "./connection-watch.ts";
import { type DatabaseAddress, getTypeParser, writeProbe } from "./database.ts";
import { locate, recheckHosts } from "./database-address.ts";
import { databaseLimits } from "./database-limits.ts";
import { createAbandonedError, isDatabaseUnavailable } from "./unavailable.ts";

/** A prepared statement: each connection prepares it once, under its name. */
export type Statement = { name: string; text: string };
export type StatementValue = string | null;

/**
 * A dedicated connection with prepared statements, so that the ledger never waits for the pool. It connects on first use and
 * reconnects after a failure. A query during which the connection breaks rejects, and may or may not have taken effect.
 */
export type Session = {
  query<Row>(statement: Statement, values: StatementValue[]): Promise<Row[]>;
  /** Throws if the server does not answer or accepts no writes. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** Longer than `statement_timeout`: a server that has not answered by then is gone. */
const answerMsMax = databaseLimits.statementMsMax + databaseLimits.suspectMsMax;

type Link = { client: pg.Client; endLate: NodeJS.Timeout };

/** When `abandoned` aborts, the connection is destroyed and never reopened. */
export function createSession(
  address: DatabaseAddress,
  abandoned: AbortSignal = new AbortController().signal,
): Session {
  const watch = createConnectionWatch({ address });
  let connecting: Promise<Link> | null = null;
  let current: Link | null = null;
  let running = 0;
  const giveUp = (): void => {
    if (current !== null) destroyConnection(current.client, createAbandonedError());
  };
  abandoned.addEventListener("abort", giveUp);

  async function connect(): Promise<Link> {
    if (abandoned.aborted) throw createAbandonedError();
    const client = createClient(address);
    // The running query fails with the same error.
    client.on("error", () => discard(client));
    client.on("end", () => discard(client));
    await watch.connect(client);
    return { client, endLate: setTimeout(() => endIfLate(client), answerMsMax).unref() };
  }

  function endIfLate(client: pg.Client): void {
    if (running > 0) endNow(client);
  }

  function endNow(client: pg.Client): void {
    if (current?.client !== client) return;
    discard(client);
    void closeConnection(client);
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
      if (!abandoned.aborted) recheckHosts(address);
      throw error;
    }
  }

  async function ask<Row>({ client, endLate }: Link, statement: Statement, values: StatementValue[]): Promise<Row[]> {
    // One timer for all queries: refreshing it costs less than one each.
    endLate.refresh();
    running += 1;
    try {
      const { rows } = await watch.await(client, client.query({ ...statement, values }));
      // Each caller knows the rows of its statement.
      return rows as Row[];
    } catch (error) {
      // Includes servers that accept no writes any more: the next connection may lead to the new primary.
      if (isDatabaseUnavailable(error)) {
        endNow(client);
        if (!abandoned.aborted) recheckHosts(address);
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
      if (link) await closeConnection(link.client);
      await watch.close();
      abandoned.removeEventListener("abort", giveUp);
    },
  };
}

function createClient(address: DatabaseAddress): pg.Client {
  const client = new pg.Client({
    ...locate(address),
    ...connectionOptions,
    statement_timeout: databaseLimits.statementMsMax,
    application_name: "sluice-ledger",
    types: { getTypeParser },
  });
  if ("hosts" in address) address.hosts.join(client);
  return client;
}

const ping = { name: "ping", text: writeProbe };
