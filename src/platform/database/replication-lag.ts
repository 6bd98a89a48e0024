import { sql } from "kysely";
import type { Database } from "./database.ts";

export type ReplicaLag = {
  name: string;
  /** How far its replay is behind; `null` if this database user may not see it. */
  seconds: number | null;
};

/** The replicas that stream from this server; empty without any. */
export async function listReplicaLags(database: Database): Promise<ReplicaLag[]> {
  const { rows } = await sql<ReplicaLag>`
    select coalesce(nullif(application_name, ''), host(client_addr), 'pid ' || pid) as name,
        -- A replica that has replayed everything reports no lag.
        case when state is not null then coalesce(extract(epoch from replay_lag), 0)::float8 end as seconds
      from pg_stat_replication where application_name not like 'pg_basebackup%' order by name`.execute(database);
  return rows;
}
