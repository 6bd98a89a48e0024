import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { GuardedClient } from "../../platform/net/guarded-fetch.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { Files } from "../files/index.ts";
import type { TaskWatch } from "./watch-tasks.ts";

/** What the operations on tasks work with. */
export type TaskParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  catalog: LiveCatalog;
  registry: ProviderRegistry;
  health: UpstreamHealth;
  files: Files;
  /** Fetches what callers name by address. */
  guarded: Pick<GuardedClient, "fetchBytes">;
  watch: TaskWatch;
  /** Lets few end at a time. */
  takeTurn<T>(work: () => Promise<T>): Promise<T>;
  random(): number;
  /** Has this process look for due tasks at once. */
  wake(): void;
  /** Told where a task has got to. Tests let the process die there. */
  reach(point: TaskPoint): void;
};

/** The places between two writes where a crash must do no harm. One list, which the crash test goes through. */
export const taskPoints = [
  "submission-written",
  "submission-answered",
  "claimed",
  "target-written",
  "submitted",
  "handle-written",
  "polled",
  "output-stored",
  "finish-written",
  "finished",
  "cancel-asked",
] as const;
/** Beside those, of tasks that are made of others. */
type DirectedPoint = "steps-written";
export type TaskPoint = (typeof taskPoints)[number] | DirectedPoint;

/** How long a worker's claim of a task lasts unless it is renewed: then others believe it dead and take the task over. */
export const leaseMs = 12_000;
