import type { Database } from "../../../platform/database/database.ts";

export const scheduleStatuses = ["waiting", "applied", "failed", "canceled"] as const;
type ScheduleStatus = (typeof scheduleStatuses)[number];

/** A catalog file that a job applies at a time, once. */
export type ScheduledCatalog = {
  id: string;
  source: string;
  reason: string;
  /** The active version when it was scheduled. */
  baseVersion: number;
  runAt: Date;
  status: ScheduleStatus;
  createdAt: Date;
  createdBy: string;
  finishedAt: Date | null;
  /** The version that it became. */
  version: number | null;
  failure: string | null;
};

export async function insertSchedule(tx: Database, one: ScheduledCatalog): Promise<void> {
  await tx
    .insertInto("scheduled_catalogs")
    .values({
      ...{ id: one.id, source: one.source, reason: one.reason, base_version: one.baseVersion, run_at: one.runAt },
      ...{ status: one.status, created_at: one.createdAt, created_by: one.createdBy },
      ...{ finished_at: one.finishedAt, version: one.version, failure: one.failure },
    })
    .execute();
}

/** Newest first. */
export async function listSchedules(
  database: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<ScheduledCatalog[]> {
  const rows = await database
    .selectFrom("scheduled_catalogs")
    .selectAll()
    .$if(after !== null, (query) => query.where("id", "<", after ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toSchedule);
}

/** The ids of those that are due, the earliest first. */
export async function listDueSchedules(database: Database, now: Date): Promise<string[]> {
  const rows = await database
    .selectFrom("scheduled_catalogs")
    .select("id")
    .where("status", "=", "waiting")
    .where("run_at", "<=", now)
    .orderBy("run_at")
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Locks it until the end of the transaction. */
export async function lockSchedule(tx: Database, id: string): Promise<ScheduledCatalog | null> {
  const row = await tx.selectFrom("scheduled_catalogs").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  return row === undefined ? null : toSchedule(row);
}

export async function finishSchedule(
  tx: Database,
  id: string,
  end: Pick<ScheduledCatalog, "status" | "finishedAt" | "version" | "failure">,
): Promise<void> {
  await tx
    .updateTable("scheduled_catalogs")
    .set({ status: end.status, finished_at: end.finishedAt, version: end.version, failure: end.failure })
    .where("id", "=", id)
    .execute();
}

type Row = Omit<ScheduledCatalog, "baseVersion" | "runAt" | "createdAt" | "createdBy" | "finishedAt" | "status"> & {
  base_version: number;
  run_at: Date;
  status: string;
  created_at: Date;
  created_by: string;
  finished_at: Date | null;
};

function toSchedule(row: Row): ScheduledCatalog {
  return {
    ...{ id: row.id, source: row.source, reason: row.reason, baseVersion: row.base_version, runAt: row.run_at },
    // A check constraint allows no other word.
    status: row.status as ScheduleStatus,
    ...{ createdAt: row.created_at, createdBy: row.created_by, finishedAt: row.finished_at },
    ...{ version: row.version, failure: row.failure },
  };
}
