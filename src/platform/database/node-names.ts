import { sql } from "kysely";
import type { Database } from "./database.ts";

/** What a node tells of itself by the name of its session, so that others on the database can see whom they share it with. */
export type NodeFacts = {
  /** The same wherever the same files are. */
  storage: string;
  counts: "redis" | "memory";
  /** The same in all processes of one gateway. */
  group: string;
};

export type SeenNode = NodeFacts & {
  session: number;
  /** When it was last heard; `null` where this user of the database may not see it. */
  heardAt: Date | null;
  address: string | null;
};

export const nodeSessionName = "sluice-change-feed";

/** At most 63 characters, which is what PostgreSQL keeps of it. */
export function presentNodeName({ storage, counts, group }: NodeFacts): string {
  return `${nodeSessionName} ${storage} ${counts} ${group}`;
}

/** The nodes that are connected to this database; those of versions that tell nothing of themselves are left out. */
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
