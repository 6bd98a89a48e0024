import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { type Incident, type IncidentState, requireMessage, requireModels, requireTitle } from "./incident.ts";
import { insertIncident, insertUpdate } from "./incident-store.ts";

type Opening = {
  title: string;
  message: string;
  state: Exclude<IncidentState, "resolved">;
  modelIds: readonly string[];
  actor: string;
};

/** Publishes an incident with its first update. */
export async function openIncident(
  {
    database,
    clock,
    ids,
    hasModel,
  }: { database: Database; clock: Clock; ids: IdSource; hasModel(id: string): boolean },
  { title, message, state, modelIds, actor }: Opening,
): Promise<Incident> {
  const now = clock.now();
  const incident = {
    id: ids.next("inc"),
    title: requireTitle(title),
    state,
    modelIds: requireModels(modelIds, hasModel),
    beganAt: now,
    changedAt: now,
    endedAt: null,
  };
  const update = { state, message: requireMessage(message), createdAt: now, createdBy: actor };
  await inTransaction(database, async (tx) => {
    await insertIncident(tx, incident);
    await insertUpdate(tx, incident.id, { ...update, number: 1 });
  });
  return { ...incident, updates: [update] };
}
