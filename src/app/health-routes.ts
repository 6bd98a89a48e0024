import { Type } from "typebox";
import type { Clock } from "../lib/clock.ts";
import type { HttpServer } from "../platform/http/create-http-server.ts";

type HealthOptions = { clock: Clock; checkDatabase(): Promise<void> };

/** Anybody may ask, as often as they like: the database is asked once a second. */
const checkEveryMs = 1000;

/** For load balancers and supervisors: `/healthz` says that the process lives, `/readyz` that it can serve. */
export function addHealthRoutes(http: HttpServer, options: HealthOptions): void {
  const checkDatabase = shareChecks(options);
  const schema = { hide: true, response: { 200: Type.Object({ status: Type.String() }) } };
  http.get("/healthz", { schema }, async () => ({ status: "ok" }));
  http.get("/readyz", { schema }, async () => {
    await checkDatabase();
    return { status: "ok" };
  });
}

/** Whoever asks while a check is under way, or shortly after, is told what it found. */
function shareChecks({ clock, checkDatabase }: HealthOptions): () => Promise<void> {
  let last: { startedMs: number; outcome: Promise<void> } | null = null;
  return () => {
    const nowMs = clock.monotonicMs();
    if (last === null || nowMs - last.startedMs >= checkEveryMs) last = { startedMs: nowMs, outcome: checkDatabase() };
    return last.outcome;
  };
}
