import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { PlaceUse, TaskLimits } from "./task-limits.ts";

/** Serializes the starts of a provider's tasks until the transaction ends. */
export async function lockStarts(tx: Database, providerId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tasks at ${providerId}`}, 0))`.execute(tx);
}

export async function readPlaceUse(database: Database, providerId: string, limits: TaskLimits): Promise<PlaceUse> {
  const { place, keyNumber } = limits;
  const { rows } = await sql<PlaceUse>`
    select count(*)::int as taken, (select next_at from submission_times where place = ${place}) as "nextAt" from tasks
      where provider_id = ${providerId} and phase in ('submitting', 'unknown', 'running')
        and (${keyNumber}::int is null or (target ->> 'keyNumber')::int = ${keyNumber})`.execute(database);
  return rows[0] ?? { taken: 0, nextAt: null };
}

/** Places that take no task before this time. */
export async function listClosedPlaces(
  database: Database,
  places: readonly string[],
  now: Date,
): Promise<Map<string, Date>> {
  const { rows } = await sql<{ place: string; next_at: Date }>`
    select place, next_at from submission_times where place = any(${places}) and next_at > ${now}`.execute(database);
  return new Map(rows.map(({ place, next_at }) => [place, next_at]));
}

/** Never earlier than what is stored. */
export async function postponeStarts(database: Database, place: string, nextAt: Date): Promise<void> {
  await sql`
    insert into submission_times as known (place, next_at) values (${place}, ${nextAt})
      on conflict on constraint submission_times_place_unique
        do update set next_at = greatest(known.next_at, excluded.next_at)`.execute(database);
}

/** Counts tasks that wait for the provider, up to `countMax`. */
export async function countWaitingFor(tx: Database, providerId: string, countMax: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select 1 from tasks where waits_for = ${providerId} and phase = 'ready' limit ${countMax}
    ) as waiting`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** The providers that tasks wait for. */
export async function listAwaitedProviders(database: Database): Promise<string[]> {
  const { rows } = await sql<{ waits_for: string }>`
    select distinct waits_for from tasks where waits_for is not null and phase = 'ready'`.execute(database);
  return rows.map(({ waits_for }) => waits_for);
}

/** The tasks of each provider, at work there and waiting for it. */
export type ProviderTasks = { providerId: string; atWork: number; waiting: number };

export async function countProviderTasks(database: Database): Promise<ProviderTasks[]> {
  const { rows } = await sql<ProviderTasks>`
    select "providerId", sum(at_work)::int as "atWork", sum(waiting)::int as waiting from (
        select provider_id as "providerId", count(*) as at_work, 0 as waiting from tasks
          where phase in ('submitting', 'unknown', 'running') and provider_id is not null group by 1
        union all
        select waits_for, 0, count(*) from tasks where waits_for is not null and phase = 'ready' group by 1
      ) as counted group by 1 order by 1`.execute(database);
  return rows;
}
