import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { appendAudit } from "../../audit/index.ts";
import type { LocatedProblem } from "../../catalog/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { Acting } from "../edge/admin-caller.ts";
import { applyAsOperator } from "./apply-as-operator.ts";
import type { CatalogDependencies } from "./gather-surroundings.ts";
import { finishSchedule, listDueSchedules, lockSchedule, type ScheduledCatalog } from "./schedule-store.ts";

const problemsShownMax = 5;

/**
 * Applies the changes that are due, each once: the row's lock, the new version and the end of the row are one transaction. A file
 * that no longer passes the checks fails, with an audit entry and a line in the log.
 */
export async function applyScheduledCatalogs(
  dependencies: CatalogDependencies & Pick<AdminDependencies, "logger">,
): Promise<void> {
  const { database, clock, logger } = dependencies;
  for (const id of await listDueSchedules(database, clock.now())) {
    const failure = await inTransaction(database, (tx) => applyScheduled({ ...dependencies, database: tx }, id));
    if (failure !== null) logger.error({ scheduled_catalog: id, failure }, "scheduled catalog rejected");
  }
}

async function applyScheduled(
  dependencies: CatalogDependencies & { database: Database },
  id: string,
): Promise<string | null> {
  const { database: tx, clock } = dependencies;
  const one = await lockSchedule(tx, id);
  if (one === null || one.status !== "waiting") return null;
  const acting = getActing(one);
  const asked = { source: one.source, baseVersion: null, reason: one.reason, acting };
  const outcome = await applyAsOperator(dependencies, asked);
  const finishedAt = clock.now();
  if (outcome.kind === "accepted") {
    await finishSchedule(tx, id, { status: "applied", finishedAt, version: outcome.version, failure: null });
    return null;
  }
  const failure = outcome.problems.slice(0, problemsShownMax).map(describe).join("\n");
  await finishSchedule(tx, id, { status: "failed", finishedAt, version: null, failure });
  await appendAudit(tx, {
    ...{ ...acting, action: "catalog.schedule_failed", subject: id, accountId: null, reason: one.reason },
    ...{ before: null, after: { failure } },
  });
  return failure;
}

function describe({ line, column, message }: LocatedProblem): string {
  return `${line}:${column} ${message}`;
}

/** The gateway acts, for the operator who scheduled it. */
function getActing({ createdBy }: ScheduledCatalog): Acting {
  return {
    actor: { kind: "system", id: null, name: `scheduled by ${createdBy}`.slice(0, 254) },
    ...{ address: null, requestId: null },
  };
}
