import { setTimeout as wait } from "node:timers/promises";
import { databaseLimits } from "./database-limits.ts";

/** PostgreSQL's own code for a connection that failed. */
const connectionFailure = "08006";

/** Says of a database what it would have said itself, had it been able to. */
export function createUnavailable(message: string): Error {
  return Object.assign(new Error(message), { code: connectionFailure });
}

/** Nobody waits for the database any longer, so that the process can end. */
export function createGivenUp(): Error {
  return createUnavailable("The database was given up.");
}

/** A connection was found dead: that alone, so that another one will do, or with the database itself, which is silent. */
export function createDeadLine(which: "line" | "database"): Error {
  const error = createUnavailable(
    which === "line" ? "The connection to the database is dead." : "The database does not answer any more.",
  );
  return Object.assign(error, { dead: which });
}

/**
 * 08: the connection. 53: out of disk, memory or connections. 57P: the server was stopped, or is starting. 25006: it takes
 * reads only, as a standby does. 57014: the statement took too long.
 */
const unavailableCodes = /^(08|53|57P|25006$|57014$)/;

const networkCodes = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"]);

/** What the driver says where there is no code. */
const lostConnection =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable/;

/** Whether the database, and not the query, is what failed: worth another try a moment later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  const couldNotConnect = "syscall" in error && ["connect", "getaddrinfo"].includes(String(error.syscall));
  return couldNotConnect || networkCodes.has(code) || unavailableCodes.test(code) || lostConnection.test(error.message);
}

/**
 * Tries again while the database is away, for a while. Only for what may be done any number of times. Whatever took as long
 * as a connection may take to be made was not refused but met silence, and that is not waited for.
 */
export async function retryWhileAway<T>(attempt: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    const triedMs = performance.now();
    try {
      return await attempt();
    } catch (error) {
      const [waitedMs, tookMs] = [performance.now() - startedMs, performance.now() - triedMs];
      if (!isWorthRetrying(error, { waitedMs, tookMs })) throw error;
      await wait(databaseLimits.retryMs);
    }
  }
}

function isWorthRetrying(error: unknown, { waitedMs, tookMs }: { waitedMs: number; tookMs: number }): boolean {
  if (!isDatabaseUnavailable(error)) return false;
  const dead = error instanceof Error && "dead" in error ? error.dead : null;
  if (dead !== null) return dead === "line" && waitedMs < databaseLimits.deadLineMsMax;
  return waitedMs < databaseLimits.awayMsMax && tookMs < databaseLimits.connectMsMax;
}
