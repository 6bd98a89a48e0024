import { sql } from "kysely";
import type { Database } from "../../../platform/database/database.ts";

export const eventKinds = [
  "switched_off",
  "switched_on",
  "secret_stored",
  "secret_retired",
  "catalog_applied",
  "circuit_opened",
  "circuit_closed",
  "test_passed",
  "test_failed",
] as const;

export type UpstreamEvent = {
  /** Unique among the events of its time. */
  id: string;
  kind: (typeof eventKinds)[number];
  /** To the millisecond. */
  at: Date;
  subject: string;
  by: string | null;
  detail: string | null;
};

export type EventPlace = Pick<UpstreamEvent, "id" | "at">;

/** What happened to upstreams, newest first: from switches, secrets, versions of the catalog, circuits and tests. */
export async function listUpstreamEvents(
  database: Database,
  { now, after, limit }: { now: Date; after: EventPlace | null; limit: number },
): Promise<UpstreamEvent[]> {
  const older = after === null ? sql`` : sql`where (at, id) < (${after.at}, ${after.id})`;
  const { rows } = await sql<UpstreamEvent>`
    select id, kind, at, subject, by, detail from (
      select kind || '/' || number collate "C" as id, kind, date_trunc('milliseconds', at) as at, subject, by, detail from (
        select 'switched_off' as kind, id::text as number, created_at as at, subject, created_by as by,
            mode || ': ' || reason as detail
          from upstream_switches
        union all
        select 'switched_on', id::text, ended_at, subject, ended_by, null from upstream_switches where ended_at is not null
        union all
        select 'switched_on', id::text, ends_at, subject, null, 'its time was over' from upstream_switches
          where ended_at is null and ends_at <= ${now}
        union all
        select 'secret_stored', name || '.' || version, created_at, name, created_by, 'version ' || version from secrets
        union all
        select 'secret_retired', name || '.' || version, retired_at, name, null, 'version ' || version from secrets
          where retired_at is not null
        union all
        select 'catalog_applied', version.number::text, version.applied_at, 'version ' || version.number, entry.actor_name,
            entry.reason
          from catalog_versions version left join audit_entries entry
            on entry.action = 'catalog.applied' and entry.subject = 'catalog_' || version.number
        union all
        select kind, id::text, at, provider_id || coalesce('/' || upstream_model, ''), actor,
            concat_ws(', ', 'key ' || key_number + 1, detail)
          from upstream_events
      ) as happened
    ) as event ${older} order by at desc, id desc limit ${limit}`.execute(database);
  return rows;
}
