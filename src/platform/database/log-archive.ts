import { sql } from "kysely";
import type { Database } from "./database.ts";

/** The state of WAL archiving; `null` if it is off. */
export type ArchiveStanding = {
  /** The last failed segment, unless a later one was archived. */
  failing: { segment: string; since: Date } | null;
  lastArchivedAt: Date | null;
};

export async function readArchiveStanding(database: Database): Promise<ArchiveStanding | null> {
  const { rows } = await sql<{
    is_on: boolean;
    last_archived_time: Date | null;
    last_failed_wal: string | null;
    last_failed_time: Date | null;
  }>`
    select current_setting('archive_mode') <> 'off' as is_on, last_archived_time, last_failed_wal, last_failed_time
      from pg_stat_archiver`.execute(database);
  const [row] = rows;
  if (row === undefined || !row.is_on) return null;
  const { last_archived_time: lastArchivedAt, last_failed_wal: segment, last_failed_time: since } = row;
  const isFailing = since !== null && (lastArchivedAt === null || since > lastArchivedAt);
  return { failing: isFailing && segment !== null ? { segment, since } : null, lastArchivedAt };
}
