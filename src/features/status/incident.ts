import type { IncidentId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";

export const incidentStates = ["investigating", "identified", "monitoring", "resolved"] as const;
export type IncidentState = (typeof incidentStates)[number];

/** What may follow. An open incident may go back, or keep its state with another update; a resolved one is final. */
const open = ["investigating", "identified", "monitoring", "resolved"] as const;
const nextStates = {
  investigating: open,
  identified: open,
  monitoring: open,
  resolved: [],
} as const satisfies Record<IncidentState, readonly IncidentState[]>;

export type IncidentUpdate = { state: IncidentState; message: string; createdAt: Date; createdBy: string };

export type Incident = {
  id: IncidentId;
  title: string;
  state: IncidentState;
  /** Empty: the whole service. */
  modelIds: readonly string[];
  beganAt: Date;
  changedAt: Date;
  endedAt: Date | null;
  /** Oldest first. */
  updates: readonly IncidentUpdate[];
};

export function requireNext(from: IncidentState, to: IncidentState): void {
  const allowed: readonly IncidentState[] = nextStates[from];
  if (allowed.includes(to)) return;
  throw new AppError("already_ended", "The incident is resolved. Open a new one.", { param: "incident" });
}

const titleCharactersMax = 200;
const messageCharactersMax = 5000;
const modelsMax = 100;

export function requireTitle(title: string): string {
  const trimmed = title.trim();
  if (trimmed !== "" && trimmed.length <= titleCharactersMax && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw new AppError("invalid_parameter", `A title has 1 to ${titleCharactersMax} characters on one line.`, {
    param: "title",
  });
}

export function requireMessage(message: string): string {
  const trimmed = message.trim();
  const isPrintable = !/[^\P{Cc}\n\r\t]/u.test(trimmed);
  if (trimmed !== "" && trimmed.length <= messageCharactersMax && isPrintable) return trimmed;
  throw new AppError("invalid_parameter", `A message has 1 to ${messageCharactersMax} characters.`, {
    param: "message",
  });
}

/** Throws if one is not in the catalog: the page would show a model that does not exist. */
export function requireModels(modelIds: readonly string[], hasModel: (id: string) => boolean): readonly string[] {
  const distinct = [...new Set(modelIds)];
  const unknown = distinct.find((id) => !hasModel(id));
  if (unknown === undefined && distinct.length <= modelsMax) return distinct;
  const message =
    unknown === undefined ? `At most ${modelsMax} models. Leave them out for all.` : `There is no model ${unknown}.`;
  throw new AppError("invalid_parameter", message, { param: "models" });
}
