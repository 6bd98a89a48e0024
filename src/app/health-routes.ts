import { Type } from "typebox";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { HttpServer } from "../platform/http/create-http-server.ts";
import { copyNotice } from "./watch-copy.ts";

type HealthOptions = {
  checkDatabase(): Promise<void>;
  /** Stopping: still serves, but load balancers should not send more. */
  isStopping(): boolean;
  /** False for a restored copy that is not confirmed. */
  isLive(): boolean;
};

/** Unauthenticated, so the database is checked at most once a second. */
const checkEveryMs = 1000;

export function isHealthPath(path: string): boolean {
  return path === "/healthz" || path === "/readyz";
}

/** For load balancers: `/healthz` means alive, `/readyz` means able to serve. */
export function addHealthRoutes(http: HttpServer, options: HealthOptions): void {
  const schema = { hide: true, response: { 200: Type.Object({ status: Type.String() }) } };
  // Load balancers ask every second or two: three of four log lines would be theirs.
  const config = { isQuiet: true } as const;
  http.get("/healthz", { schema, config }, async () => ({ status: "ok" }));
  http.get("/readyz", { schema, config }, async () => {
    if (options.isStopping())
      throw new AppError("shutting_down", "This node is shutting down. Retry on a new connection.");
    await options.checkDatabase();
    return { status: options.isLive() ? "ok" : `ok. ${copyNotice.message}.` };
  });
}

/** Shares a running or recent check. */
export function shareChecks(clock: Clock, checkDatabase: () => Promise<void>): () => Promise<void> {
  let last: { startedMs: number; outcome: Promise<void> } | null = null;
  return () => {
    const nowMs = clock.monotonicMs();
    if (last === null || nowMs - last.startedMs >= checkEveryMs) last = { startedMs: nowMs, outcome: checkDatabase() };
    return last.outcome;
  };
}
