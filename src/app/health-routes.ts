import { Type } from "typebox";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { HttpServer } from "../platform/http/create-http-server.ts";
import { copyNotice } from "./watch-copy.ts";

type HealthOptions = {
  checkDatabase(): Promise<void>;
  /** Whether it was told to stop: it serves for a while yet, but nobody should send more. */
  isStopping(): boolean;
  /** Whether it is not a restored copy that waits to be confirmed. */
  isLive(): boolean;
};

/** Anybody may ask, as often as they like: the database is asked once a second. */
const checkEveryMs = 1000;

export function isHealthPath(path: string): boolean {
  return path === "/healthz" || path === "/readyz";
}

/** For load balancers and supervisors: `/healthz` says that the process lives, `/readyz` that it can serve. */
export function addHealthRoutes(http: HttpServer, options: HealthOptions): void {
  const schema = { hide: true, response: { 200: Type.Object({ status: Type.String() }) } };
  http.get("/healthz", { schema }, async () => ({ status: "ok" }));
  http.get("/readyz", { schema }, async () => {
    if (options.isStopping()) throw new AppError("shutting_down", "This node is about to stop.");
    await options.checkDatabase();
    return { status: options.isLive() ? "ok" : `ok. ${copyNotice.message}.` };
  });
}

/** Whoever asks while a check is under way, or shortly after, is told what it found. */
export function shareChecks(clock: Clock, checkDatabase: () => Promise<void>): () => Promise<void> {
  let last: { startedMs: number; outcome: Promise<void> } | null = null;
  return () => {
    const nowMs = clock.monotonicMs();
    if (last === null || nowMs - last.startedMs >= checkEveryMs) last = { startedMs: nowMs, outcome: checkDatabase() };
    return last.outcome;
  };
}
