import { setTimeout as wait } from "node:timers/promises";
import { databaseLimits } from "./database-limits.ts";

/** PostgreSQL's `connection_failure`. */
const connectionFailure = "08006";

/** An error with PostgreSQL's code for a failed connection. */
export function createUnavailableError(message: string): Error {
  return Object.assign(new Error(message), { code: connectionFailure });
}

/** The process is exiting and no longer waits for the database. */
export function createAbandonedError(): Error {
  return createUnavailableError("The gateway is stopping and no longer waits for the database.");
}

/** `connection`: only this connection is dead, and another one will do. `database`: the server is silent. */
export function createDeadConnectionError(which: "connection" | "database"): Error {
  const error = createUnavailableError(
    which === "connection" ? "The connection to the database is dead." : "The database does not answer any more.",
  );
  return Object.assign(error, { dead: which });
}

/**
 * 08: the connection. 53: out of disk, memory or connections. 57P: the server is stopping or starting. 25006: it is read-only,
 * such as a standby. 57014: `statement_timeout`.
 */
const unavailableCodes = /^(08|53|57P|25006$|57014$)/;

const networkCodes = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"]);

/** Errors of pg that have no code. */
const lostConnection =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable/;

/** Whether the database failed, not the query: a retry can help. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  const couldNotConnect = "syscall" in error && ["connect", "getaddrinfo"].includes(String(error.syscall));
  return couldNotConnect || networkCodes.has(code) || unavailableCodes.test(code) || lostConnection.test(error.message);
}

/**
 * Retries while the database is unavailable, within a limit. Only for idempotent work. A try that took as long as the connect
 * timeout met a silent server, and is not retried.
 */
export async function retryWhileUnavailable<T>(attempt: () => Promise<T>): Promise<T> {
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
  if (dead !== null) return dead === "connection" && waitedMs < databaseLimits.deadConnectionMsMax;
  return waitedMs < databaseLimits.unavailableMsMax && tookMs < databaseLimits.connectMsMax;
}
