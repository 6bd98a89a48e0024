import { findCatalog } from "../features/catalog/index.ts";
import {
  type Incident,
  type IncidentState,
  incidentStates,
  listIncidents,
  openIncident,
  updateIncident,
} from "../features/status/index.ts";
import type { Database } from "../platform/database/database.ts";
import type { Command } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { createWrongValue } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const shownMax = 100;
const modelsOption = {
  placeholder: "ids",
  description: "Affected models, comma-separated; all for the whole service.",
};
const messageOption = { placeholder: "text", description: "What customers read.", isRequired: true } as const;

const openCommand: Command = {
  name: "incident open",
  summary: "Publish an incident on the status page.",
  options: {
    title: { placeholder: "text", description: "One line, such as Slow answers of chat models.", isRequired: true },
    message: messageOption,
    state: { placeholder: "word", description: "investigating, identified or monitoring. Default: investigating." },
    models: modelsOption,
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const state = readState(options.state ?? "investigating");
      if (state === "resolved") throw createWrongValue("state", "investigating, identified or monitoring");
      const incident = await openIncident(await readDependencies(database), {
        ...{ title: options.title ?? "", message: options.message ?? "", state, actor: getActor() },
        modelIds: readModels(options.models) ?? [],
      });
      return { json: presentIncidentJson(incident), text: `Published ${incident.id}.` };
    }),
};

const updateCommand: Command = {
  name: "incident update",
  summary: "Add an update to an open incident. The state resolved ends it.",
  positionals: ["incident id"],
  options: {
    message: messageOption,
    state: { placeholder: "word", description: `One of ${incidentStates.join(", ")}.`, isRequired: true },
    title: { placeholder: "text", description: "Another title." },
    models: modelsOption,
  },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const incident = await updateIncident(await readDependencies(database), id, {
        ...{ state: readState(options.state ?? ""), message: options.message ?? "", actor: getActor() },
        ...{ title: options.title, modelIds: readModels(options.models) },
      });
      return { json: presentIncidentJson(incident), text: `${incident.id} is ${incident.state}.` };
    }),
};

const listCommand: Command = {
  name: "incident list",
  summary: "List the incidents of the status page, newest first.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const incidents = await listIncidents(database, { limit: shownMax });
      const rows = incidents.map(({ id, state, beganAt, title, modelIds }) => [
        ...[id, state, beganAt.toISOString(), title, modelIds.length === 0 ? "all" : modelIds.join(", ")],
      ]);
      return {
        json: incidents.map(presentIncidentJson),
        text: rows.length === 0 ? "No incidents." : presentRows(["ID", "STATE", "SINCE", "TITLE", "MODELS"], rows),
      };
    }),
};

export const incidentCommands: readonly Command[] = [openCommand, updateCommand, listCommand];

async function readDependencies(database: Database) {
  const catalog = await findCatalog(database);
  const known = new Set(catalog?.models.map(({ id }) => id));
  return { ...systemDependencies, database, hasModel: (id: string) => known.has(id) };
}

function readState(word: string): IncidentState {
  const state = incidentStates.find((known) => known === word);
  if (state === undefined) throw createWrongValue("state", `one of ${incidentStates.join(", ")}`);
  return state;
}

function readModels(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  return text === "all" ? [] : text.split(",").map((id) => id.trim());
}

function presentIncidentJson(incident: Incident): Record<string, unknown> {
  return {
    ...{ id: incident.id, title: incident.title, state: incident.state, models: incident.modelIds },
    began_at: incident.beganAt.toISOString(),
    ended_at: incident.endedAt?.toISOString() ?? null,
    updates: incident.updates.map(({ state, message, createdAt, createdBy }) => ({
      ...{ state, message, at: createdAt.toISOString(), by: createdBy },
    })),
  };
}
