import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { Schedule } from "./schedule.ts";

/** A gateway's claim of a run, invalid once a newer fencing token exists. */
export type JobLease = { name: string; fencingToken: number };

/** Inserts new jobs and updates changed schedules. Others keep their due time. */
export async function registerJobs(
  database: Database,
  jobs: readonly { name: string; schedule: Schedule; dueAt: Date }[],
): Promise<void> {
  await sql`
    insert into scheduled_jobs (name, schedule, due_at, leased_until, fencing_token)
      select name, schedule, due_at, null, 0 from unnest(
        ${jobs.map(({ name }) => name)}::text[],
        ${jobs.map(({ schedule }) => JSON.stringify(schedule))}::jsonb[],
        ${jobs.map(({ dueAt }) => dueAt)}::timestamptz[]
      ) as jobs (name, schedule, due_at) order by name
      on conflict (name) do update set schedule = excluded.schedule, due_at = excluded.due_at
        where scheduled_jobs.schedule <> excluded.schedule`.execute(database);
}

/** Claims due jobs without a live lease. `FOR UPDATE SKIP LOCKED`: skip jobs another gateway is claiming. */
export async function claimDueJobs(
  database: Database,
  names: readonly string[],
  { now, until }: { now: Date; until: Date },
): Promise<JobLease[]> {
  const { rows } = await sql<{ name: string; fencing_token: number }>`
    update scheduled_jobs set leased_until = ${until}, fencing_token = fencing_token + 1
      where name in (
        select name from scheduled_jobs
          where name = any(${names}) and due_at <= ${now} and (leased_until is null or leased_until <= ${now})
          for update skip locked
      )
      returning name, fencing_token`.execute(database);
  return rows.map((row) => ({ name: row.name, fencingToken: row.fencing_token }));
}

/** Renews leases that are still held and returns their names. */
export async function renewJobLeases(
  database: Database,
  leases: readonly JobLease[],
  { now, until }: { now: Date; until: Date },
): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    update scheduled_jobs set leased_until = ${until}
      from unnest(
        ${leases.map(({ name }) => name)}::text[],
        ${leases.map(({ fencingToken }) => fencingToken)}::int[]
      ) as held (name, fencing_token)
      where scheduled_jobs.name = held.name and scheduled_jobs.fencing_token = held.fencing_token
        and leased_until > ${now}
      returning scheduled_jobs.name`.execute(database);
  return new Set(rows.map((row) => row.name));
}

/** Ends a run. With `dueAt` null the job stays due, for the next poll of any gateway. */
export async function endJobLease(
  database: Database,
  { name, fencingToken }: JobLease,
  dueAt: Date | null,
): Promise<void> {
  await sql`
    update scheduled_jobs set leased_until = null, due_at = coalesce(${dueAt}::timestamptz, due_at)
      where name = ${name} and fencing_token = ${fencingToken}`.execute(database);
}

/** Jobs that are due since before a moment and do not run, with the oldest first. */
export async function listLateJobs(
  database: Database,
  { now, before }: { now: Date; before: Date },
): Promise<{ name: string; dueAt: Date }[]> {
  const { rows } = await sql<{ name: string; due_at: Date }>`
    select name, due_at from scheduled_jobs
      where due_at < ${before} and (leased_until is null or leased_until <= ${now}) order by due_at, name`.execute(
    database,
  );
  return rows.map(({ name, due_at: dueAt }) => ({ name, dueAt }));
}
