import { sql } from "kysely";
import type { AlarmId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Alarm, AlarmEventRecord, AlarmState } from "./alarm.ts";

type AlarmRow = {
  id: AlarmId;
  rule: string;
  subject: string;
  state: AlarmState;
  value: number;
  message: string;
  began_at: Date;
  met_at: Date;
  silenced_until: Date | null;
  ended_at: Date | null;
};

const columns = sql`id, rule, subject, state, value, message, began_at, met_at, silenced_until, ended_at`;

export async function listOpenAlarms(database: Database): Promise<Alarm[]> {
  const { rows } = await sql<AlarmRow>`select ${columns} from alarms where state <> 'resolved'`.execute(database);
  return rows.map(toAlarm);
}

/** Newest first; without `pending` ones, which have not fired. */
export async function listAlarms(
  database: Database,
  {
    states,
    rule = null,
    after = null,
    limit,
  }: { states: readonly AlarmState[]; rule?: string | null; after?: string | null; limit: number },
): Promise<Alarm[]> {
  const { rows } = await sql<AlarmRow>`
    select ${columns} from alarms
      where state = any(${[...states]}) and (${rule}::text is null or rule = ${rule}) and (${after}::text is null or id < ${after})
      order by id desc limit ${limit}`.execute(database);
  return rows.map(toAlarm);
}

export async function findAlarm(database: Database, id: string): Promise<Alarm | null> {
  const { rows } = await sql<AlarmRow>`select ${columns} from alarms where id = ${id}`.execute(database);
  return rows[0] === undefined ? null : toAlarm(rows[0]);
}

/** `FOR UPDATE`: the check and operators change alarms at the same time. */
export async function lockAlarm(tx: Database, id: string): Promise<Alarm | null> {
  const { rows } = await sql<AlarmRow>`select ${columns} from alarms where id = ${id} for update`.execute(tx);
  return rows[0] === undefined ? null : toAlarm(rows[0]);
}

/** Returns whether it is the only open one of its rule and subject. */
export async function insertAlarm(tx: Database, alarm: Alarm): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into alarms (id, rule, subject, state, value, message, began_at, met_at, silenced_until, ended_at)
      values (${alarm.id}, ${alarm.rule}, ${alarm.subject}, ${alarm.state}, ${alarm.value}, ${alarm.message},
        ${alarm.beganAt}, ${alarm.metAt}, ${alarm.silencedUntil}, ${alarm.endedAt})
      on conflict (rule, subject) where state <> 'resolved' do nothing`.execute(tx);
  return numAffectedRows === 1n;
}

export async function updateAlarm(tx: Database, alarm: Alarm): Promise<void> {
  await sql`
    update alarms set state = ${alarm.state}, value = ${alarm.value}, message = ${alarm.message}, met_at = ${alarm.metAt},
        began_at = ${alarm.beganAt}, silenced_until = ${alarm.silencedUntil}, ended_at = ${alarm.endedAt}
      where id = ${alarm.id}`.execute(tx);
}

/** A pending alarm that was not met long enough leaves no trace. */
export async function deleteAlarm(tx: Database, id: AlarmId): Promise<void> {
  await sql`delete from alarms where id = ${id}`.execute(tx);
}

/** What a rule is still met by, without a transition. */
export async function updateMeasured(
  database: Database,
  { id, value, message, metAt }: Pick<Alarm, "id" | "value" | "message" | "metAt">,
): Promise<void> {
  await sql`
    update alarms set value = ${value}, message = ${message}, met_at = ${metAt}
      where id = ${id} and state <> 'resolved'`.execute(database);
}

export async function insertAlarmEvent(
  tx: Database,
  id: AlarmId,
  { kind, state, actor, note, createdAt }: Omit<AlarmEventRecord, "number">,
): Promise<number> {
  const { rows } = await sql<{ number: number }>`
    insert into alarm_events (alarm_id, number, kind, state, actor, note, created_at)
      select ${id}, coalesce(max(number), 0) + 1, ${kind}, ${state}, ${actor}, ${note}, ${createdAt}::timestamptz
        from alarm_events where alarm_id = ${id}
      returning number`.execute(tx);
  return rows[0]?.number ?? 0;
}

/** Oldest first. */
export async function listAlarmEvents(database: Database, id: string): Promise<AlarmEventRecord[]> {
  const { rows } = await sql<AlarmEventRecord>`
    select number, kind, state, actor, note, created_at as "createdAt" from alarm_events
      where alarm_id = ${id} order by number`.execute(database);
  return rows;
}

export type AlarmNotification = {
  channel: string;
  state: "waiting" | "sent" | "failed";
  attempts: number;
  createdAt: Date;
  endedAt: Date | null;
  trouble: string | null;
};

/** Oldest first. */
export async function listNotifications(database: Database, id: string): Promise<AlarmNotification[]> {
  const { rows } = await sql<AlarmNotification>`
    select channel, state, attempts, created_at as "createdAt", ended_at as "endedAt", trouble from alarm_notifications
      where alarm_id = ${id} order by created_at, id`.execute(database);
  return rows;
}

/** Their history and notifications go with them. */
export async function deleteOldAlarms(database: Database, before: Date): Promise<void> {
  await sql`delete from alarms where state = 'resolved' and ended_at < ${before}`.execute(database);
}

function toAlarm(row: AlarmRow): Alarm {
  return {
    ...{ id: row.id, rule: row.rule, subject: row.subject, state: row.state, value: row.value, message: row.message },
    ...{ beganAt: row.began_at, metAt: row.met_at, silencedUntil: row.silenced_until, endedAt: row.ended_at },
  };
}
