import { sql } from "kysely";
import { type Database, inTransaction } from "../../platform/database/database.ts";

const trafficKinds = ["model", "endpoint", "upstream"] as const;
export type TrafficKind = (typeof trafficKinds)[number];

/** Calls of five minutes. */
export type TrafficSlot = { slotAt: Date; kind: TrafficKind; subject: string; calls: number; failed: number };

export type TrafficSum = { subject: string; calls: number; failed: number };

type TrafficProgress = { countedUntil: Date; runAt: Date };

export async function findProgress(database: Database): Promise<TrafficProgress | null> {
  const row = await database.selectFrom("traffic_progress").select(["counted_until", "run_at"]).executeTakeFirst();
  return row === undefined ? null : { countedUntil: row.counted_until, runAt: row.run_at };
}

type Recount = {
  slots: readonly TrafficSlot[];
  /** Slots from here on are replaced, and the sums of their days made again. */
  from: Date;
  progress: TrafficProgress;
  slotsKeptFrom: Date;
  daysKeptFrom: Date;
};

/** Replaces the slots of a period and the days that contain them. */
export async function replaceSlots(database: Database, recount: Recount): Promise<void> {
  const { slots, from, progress, slotsKeptFrom, daysKeptFrom } = recount;
  await inTransaction(database, async (tx) => {
    await sql`
      insert into traffic_progress (counted_until, run_at) values (${progress.countedUntil}, ${progress.runAt})
        on conflict (is_only) do update set counted_until = excluded.counted_until, run_at = excluded.run_at`.execute(
      tx,
    );
    await sql`delete from traffic_slots where slot_at >= ${from} or slot_at < ${slotsKeptFrom}`.execute(tx);
    await sql`
      insert into traffic_slots (slot_at, kind, subject, calls, failed) select * from unnest(
        ${slots.map(({ slotAt }) => slotAt)}::timestamptz[], ${slots.map(({ kind }) => kind)}::text[],
        ${slots.map(({ subject }) => subject)}::text[], ${slots.map(({ calls }) => calls)}::bigint[],
        ${slots.map(({ failed }) => failed)}::bigint[])`.execute(tx);
    await sql`
      insert into traffic_days (day, kind, subject, calls, failed)
        select to_char(slot_at at time zone 'UTC', 'YYYY-MM-DD'), kind, subject, sum(calls), sum(failed) from traffic_slots
          where kind <> 'upstream' and slot_at >= date_trunc('day', ${from}::timestamptz, 'UTC')
          group by 1, 2, 3
        on conflict (day, kind, subject) do update set calls = excluded.calls, failed = excluded.failed`.execute(tx);
    await sql`delete from traffic_days where day < ${daysKeptFrom.toISOString().slice(0, 10)}`.execute(tx);
  });
}

/** Calls and failures since a moment, by subject. */
export async function sumSlots(database: Database, kind: TrafficKind, since: Date): Promise<TrafficSum[]> {
  const { rows } = await sql<TrafficSum>`
    select subject, sum(calls)::float8 as calls, sum(failed)::float8 as failed from traffic_slots
      where slot_at >= ${since} and kind = ${kind} group by subject order by subject`.execute(database);
  return rows;
}

export type TrafficDay = TrafficSum & { day: string; kind: TrafficKind };

/** `day` is a date such as 2027-01-31. */
export async function listDays(database: Database, fromDay: string): Promise<TrafficDay[]> {
  const { rows } = await sql<TrafficDay>`
    select day, kind, subject, calls::float8 as calls, failed::float8 as failed from traffic_days
      where day >= ${fromDay} order by kind, subject, day`.execute(database);
  return rows;
}
