import { sql } from "kysely";
import type { AlarmId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Report } from "./alarm.ts";
import type { AlarmUnit } from "./alarm-rules.ts";

export type NotificationChannel = "mail" | "webhook" | "slack";

/** What a notification says, as of its transition. */
export type NotificationFacts = {
  kind: Report;
  alarm_id: AlarmId;
  rule: string;
  subject: string;
  title: string;
  severity: "page" | "ticket";
  message: string;
  value: number;
  unit: AlarmUnit;
  currency: string;
  run_book: string | null;
  began_at: string;
  at: string;
};

/** An id belongs to one transition and channel, so a repeated transition inserts nothing. */
export async function insertNotifications(
  tx: Database,
  notifications: readonly { id: string; channel: NotificationChannel }[],
  { alarmId, facts, now }: { alarmId: AlarmId; facts: NotificationFacts; now: Date },
): Promise<void> {
  await sql`
    insert into alarm_notifications (id, alarm_id, channel, facts, state, due_at, created_at)
      select id, ${alarmId}, channel, ${JSON.stringify(facts)}::jsonb, 'waiting', ${now}::timestamptz, ${now}::timestamptz
        from unnest(${notifications.map(({ id }) => id)}::text[], ${notifications.map(({ channel }) => channel)}::text[])
          as made (id, channel)
      on conflict (id) do nothing`.execute(tx);
}

export type ClaimedNotification = {
  id: string;
  channel: NotificationChannel;
  facts: NotificationFacts;
  /** With this one. */
  attempts: number;
};

/** Claims due notifications: each is due again at `retryAt` unless its attempt ends before. */
export async function claimNotifications(
  database: Database,
  { now, retryAt, limit }: { now: Date; retryAt: Date; limit: number },
): Promise<ClaimedNotification[]> {
  const { rows } = await sql<ClaimedNotification>`
    update alarm_notifications set attempts = attempts + 1, due_at = ${retryAt}
      where id in (
        select id from alarm_notifications where state = 'waiting' and due_at <= ${now}
          order by due_at, id limit ${limit} for update skip locked)
      returning id, channel, facts, attempts`.execute(database);
  return rows;
}

export async function endNotification(
  database: Database,
  id: string,
  end:
    | { state: "sent" | "failed"; endedAt: Date; trouble: string | null }
    | { state: "waiting"; dueAt: Date; trouble: string },
): Promise<void> {
  const endedAt = end.state === "waiting" ? null : end.endedAt;
  const dueAt = end.state === "waiting" ? end.dueAt : null;
  await sql`
    update alarm_notifications set state = ${end.state}, ended_at = ${endedAt}, trouble = ${end.trouble},
        due_at = coalesce(${dueAt}::timestamptz, due_at)
      where id = ${id} and state = 'waiting'`.execute(database);
}
