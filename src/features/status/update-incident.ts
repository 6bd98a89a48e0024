import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import {
  type Incident,
  type IncidentState,
  requireMessage,
  requireModels,
  requireNext,
  requireTitle,
} from "./incident.ts";
import { insertUpdate, lockIncident, updateIncidentRow } from "./incident-store.ts";

type Change = {
  state: IncidentState;
  message: string;
  title?: string | undefined;
  modelIds?: readonly string[] | undefined;
  actor: string;
};

/** Adds an update to an open incident. The state `resolved` ends it. */
export async function updateIncident(
  { database, clock, hasModel }: { database: Database; clock: Clock; hasModel(id: string): boolean },
  id: string,
  { state, message, title, modelIds, actor }: Change,
): Promise<Incident> {
  return await inTransaction(database, async (tx) => {
    const incident = await lockIncident(tx, id);
    if (incident === null) throw new AppError("not_found", `There is no incident ${id}.`, { param: "incident" });
    requireNext(incident.state, state);
    const now = clock.now();
    const update = { state, message: requireMessage(message), createdAt: now, createdBy: actor };
    const changed = {
      ...incident,
      state,
      title: title === undefined ? incident.title : requireTitle(title),
      modelIds: modelIds === undefined ? incident.modelIds : requireModels(modelIds, hasModel),
      changedAt: now,
      endedAt: state === "resolved" ? now : null,
      updates: [...incident.updates, update],
    };
    await updateIncidentRow(tx, changed);
    await insertUpdate(tx, incident.id, { ...update, number: changed.updates.length });
    return changed;
  });
}
