import { inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit } from "../../audit/index.ts";
import { type CatalogOutcome, findCatalog, previewCatalog } from "../../catalog/index.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";
import { type CatalogDependencies, gatherSurroundings } from "./gather-surroundings.ts";
import { finishSchedule, insertSchedule, lockSchedule, type ScheduledCatalog } from "./schedule-store.ts";

type ScheduleRequest = { source: string; runAt: Date; reason: string; acting: Acting };

/** Stores a checked catalog file for a job to apply at a time. */
export async function scheduleCatalog(
  dependencies: CatalogDependencies,
  { source, runAt, reason: text, acting }: ScheduleRequest,
): Promise<{ outcome: CatalogOutcome; scheduled: ScheduledCatalog | null }> {
  const { database, clock, ids } = dependencies;
  const reason = requireReason(text);
  const now = clock.now();
  if (runAt <= now) throw new AppError("invalid_parameter", "The time must be in the future.", { param: "run_at" });
  const surroundings = await gatherSurroundings(dependencies, source);
  const outcome = await previewCatalog({ database, clock, ids, surroundings }, source);
  if (outcome.kind === "refused") return { outcome, scheduled: null };
  const scheduled = await inTransaction(database, async (tx): Promise<ScheduledCatalog> => {
    const one: ScheduledCatalog = {
      ...{ id: ids.next("csch"), source, reason, runAt, status: "waiting", createdAt: now },
      ...{ baseVersion: (await findCatalog(tx))?.version ?? 0, createdBy: nameActor(acting.actor) },
      ...{ finishedAt: null, version: null, failure: null },
    };
    await insertSchedule(tx, one);
    await appendAudit(tx, {
      ...{ ...acting, action: "catalog.scheduled", subject: one.id, accountId: null, reason, before: null },
      after: { run_at: runAt.toISOString(), base_version: one.baseVersion },
    });
    return one;
  });
  return { outcome, scheduled };
}

/** A change that was applied, failed or canceled stays as it is. */
export async function cancelSchedule(
  { database, clock }: Pick<CatalogDependencies, "database" | "clock">,
  { id, reason: text, acting }: { id: string; reason: string; acting: Acting },
): Promise<ScheduledCatalog> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const one = await lockSchedule(tx, id);
    if (one === null) {
      throw new AppError("not_found", "There is no such scheduled change.", { param: "schedule_id" });
    }
    if (one.status !== "waiting") return one;
    const end = { status: "canceled", finishedAt: clock.now(), version: null, failure: null } as const;
    await finishSchedule(tx, id, end);
    await appendAudit(tx, {
      ...{ ...acting, action: "catalog.unscheduled", subject: id, accountId: null, reason },
      ...{ before: { run_at: one.runAt.toISOString() }, after: null },
    });
    return { ...one, ...end };
  });
}
