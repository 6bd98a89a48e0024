import { sql } from "kysely";
import type { Database } from "../../../platform/database/database.ts";

export const eventKinds = [
  "switched_off",
  "switched_on",
  "secret_stored",
  "secret_retired",
  "catalog_applied",
  "circuit",
] as const;

export type UpstreamEvent = {
  kind: (typeof eventKinds)[number];
  at: Date;
  subject: string;
  by: string | null;
  detail: string | null;
};

/** What happened to upstreams, newest first: from switches, secrets, versions of the catalog and circuits that are not closed. */
export async function listUpstreamEvents(database: Database, now: Date, limit: number): Promise<UpstreamEvent[]> {
  const { rows } = await sql<UpstreamEvent>`
    select * from (
      select 'switched_off' as kind, created_at as at, subject, created_by as by, mode || ': ' || reason as detail
        from upstream_switches
      union all
      select 'switched_on', ended_at, subject, ended_by, null from upstream_switches where ended_at is not null
      union all
      select 'switched_on', ends_at, subject, null, 'its time was over' from upstream_switches
        where ended_at is null and ends_at <= ${now}
      union all
      select 'secret_stored', created_at, name, created_by, 'version ' || version from secrets
      union all
      select 'secret_retired', retired_at, name, null, 'version ' || version from secrets where retired_at is not null
      union all
      select 'catalog_applied', version.applied_at, 'version ' || version.number, entry.actor_name, entry.reason
        from catalog_versions version left join audit_entries entry
          on entry.action = 'catalog.applied' and entry.subject = 'catalog_' || version.number
      union all
      select 'circuit', reported_at, provider_id || case when upstream_model = '' then '' else '/' || upstream_model end,
          null, state || ', key ' || key_number + 1 || ', ' || last_failure from upstream_health
    ) as event order by at desc, kind, subject limit ${limit}`.execute(database);
  return rows;
}
