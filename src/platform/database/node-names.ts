import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Published in the session's `application_name`, so that nodes on the same database can find each other. */
export type NodeFacts = {
  /** Identifies the file storage: equal on nodes that share files. */
  storage: string;
  counts: "redis" | "memory";
  /** Equal in all processes of one gateway. */
  group: string;
};

export type SeenNode = NodeFacts & {
  session: number;
  /** Of its last heartbeat; `null` if this database user may not see it. */
  heardAt: Date | null;
  address: string | null;
};

export const nodeSessionName = "sluice-change-feed";

/** At most 63 characters: PostgreSQL truncates longer names. */
export function presentNodeName({ storage, counts, group }: NodeFacts): string {
  return `${nodeSessionName} ${storage} ${counts} ${group}`;
}

/** The nodes that are connected to this database. */
export async function listNodes(database: Database): Promise<SeenNode[]> {
  const { rows } = await sql<{
    pid: number;
    application_name: string;
    query_start: Date | null;
    client: string | null;
  }>`
    select pid, application_name, query_start, host(client_addr) as client from pg_stat_activity
    where datname = current_database() and application_name like ${`${nodeSessionName} %`}`.execute(database);
  return rows.flatMap(({ pid, application_name: name, query_start: heardAt, client: address }) => {
    const [, storage, counts, group] = name.split(" ");
    if (storage === undefined || group === undefined || (counts !== "redis" && counts !== "memory")) return [];
    return [{ storage, counts, group, session: pid, heardAt, address }];
  });
}
