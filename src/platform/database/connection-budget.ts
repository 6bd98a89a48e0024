import { sql } from "kysely";
import type { Database } from "./database.ts";

export type ServerConnections = {
  /** What the server gives to ordinary users: `max_connections` without those it reserves. */
  max: number;
  /** Those open now, of all users and databases. */
  open: number;
};

export async function readServerConnections(database: Database): Promise<ServerConnections> {
  const { rows } = await sql<ServerConnections>`
    select (current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true), '0')::int) as max,
        (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as open`.execute(database);
  return rows[0] ?? { max: 0, open: 0 };
}
