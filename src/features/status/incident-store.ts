import { sql } from "kysely";
import type { IncidentId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Incident, IncidentState, IncidentUpdate } from "./incident.ts";

type IncidentRow = {
  id: IncidentId;
  title: string;
  state: IncidentState;
  model_ids: string[];
  began_at: Date;
  changed_at: Date;
  ended_at: Date | null;
};

type UpdateRow = {
  incident_id: IncidentId;
  state: IncidentState;
  message: string;
  created_at: Date;
  created_by: string;
};

export async function insertIncident(tx: Database, incident: Omit<Incident, "updates">): Promise<void> {
  await tx
    .insertInto("incidents")
    .values({
      id: incident.id,
      title: incident.title,
      state: incident.state,
      model_ids: [...incident.modelIds],
      began_at: incident.beganAt,
      changed_at: incident.changedAt,
      ended_at: incident.endedAt,
    })
    .execute();
}

export async function updateIncidentRow(tx: Database, incident: Omit<Incident, "updates">): Promise<void> {
  await tx
    .updateTable("incidents")
    .set({
      title: incident.title,
      state: incident.state,
      model_ids: [...incident.modelIds],
      changed_at: incident.changedAt,
      ended_at: incident.endedAt,
    })
    .where("id", "=", incident.id)
    .execute();
}

export async function insertUpdate(
  tx: Database,
  id: IncidentId,
  { number, state, message, createdAt, createdBy }: IncidentUpdate & { number: number },
): Promise<void> {
  await tx
    .insertInto("incident_updates")
    .values({ incident_id: id, number, state, message, created_at: createdAt, created_by: createdBy })
    .execute();
}

/** `FOR UPDATE`, so that two operators' updates follow one another. */
export async function lockIncident(tx: Database, id: string): Promise<Incident | null> {
  const { rows } = await sql<IncidentRow>`
    select id, title, state, model_ids, began_at, changed_at, ended_at from incidents where id = ${id} for update`.execute(
    tx,
  );
  return (await addUpdates(tx, rows))[0] ?? null;
}

export async function findIncident(database: Database, id: string): Promise<Incident | null> {
  const { rows } = await sql<IncidentRow>`
    select id, title, state, model_ids, began_at, changed_at, ended_at from incidents where id = ${id}`.execute(
    database,
  );
  return (await addUpdates(database, rows))[0] ?? null;
}

/** Newest first. */
export async function listIncidents(
  database: Database,
  { after = null, changedSince = null, limit }: { after?: string | null; changedSince?: Date | null; limit: number },
): Promise<Incident[]> {
  const { rows } = await sql<IncidentRow>`
    select id, title, state, model_ids, began_at, changed_at, ended_at from incidents
      where (${after}::text is null or id < ${after}) and (${changedSince}::timestamptz is null or changed_at >= ${changedSince} or ended_at is null)
      order by id desc limit ${limit}`.execute(database);
  return await addUpdates(database, rows);
}

async function addUpdates(database: Database, rows: readonly IncidentRow[]): Promise<Incident[]> {
  if (rows.length === 0) return [];
  const { rows: updates } = await sql<UpdateRow>`
    select incident_id, state, message, created_at, created_by from incident_updates
      where incident_id = any(${rows.map(({ id }) => id)}) order by incident_id, number`.execute(database);
  const byIncident = Map.groupBy(updates, (update) => update.incident_id);
  return rows.map((row) => ({
    ...{ id: row.id, title: row.title, state: row.state, modelIds: row.model_ids },
    ...{ beganAt: row.began_at, changedAt: row.changed_at, endedAt: row.ended_at },
    updates: (byIncident.get(row.id) ?? []).map(({ state, message, created_at: createdAt, created_by: createdBy }) => ({
      ...{ state, message, createdAt, createdBy },
    })),
  }));
}
