import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { parse, stringify } from "yaml";
import { openEventInbox } from "../../../src/features/webhooks/index.ts";
import { openTaskStage, type StageCaller, type TaskStage, type WholeTask } from "../tasks/task-stage.ts";

export const dramaPath = "/dramas/generations";

/** A drama as callers see it. */
export type SeenDrama = WholeTask & {
  steps: {
    name: string;
    status: string;
    progress: number;
    charge: string;
    output: { type: string; url: string; content_type: string }[];
    task_ids: string[];
  }[];
};

export type DramaCaller = StageCaller & {
  /** Requests a drama: the default one with some fields changed; `undefined` removes a field. */
  ask(more?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
  /** The same, and expects a task. */
  order(more?: Record<string, unknown>, headers?: Record<string, string>): Promise<SeenDrama>;
  /** The number of stored orders of the account. */
  countOrders(): Promise<number>;
};

/** The smallest valid drama: a text, with the script stage only. */
export const usualDrama = {
  model: "sandbox-drama",
  title: "The Lighthouse",
  script: "ANNA\nThe lamp is out.",
  stage: "script",
};

type Fields = Record<string, unknown>;
type CatalogSource = { models: Fields[]; prices: Fields[] };

/** The sandbox's own catalog, with incomplete drama models. */
function writeDramaCatalog(): string {
  const source = parse(
    readFileSync(new URL("../../../catalogs/sandbox.yaml", import.meta.url), "utf8"),
  ) as CatalogSource;
  const drama = source.models.find(({ id }) => id === "sandbox-drama") ?? {};
  const { script, roles } = drama.stages as Record<string, Fields>;
  const silent = { name: "silent", type: "chat", capabilities: ["chat", "json_schema"] };
  const models = [
    { ...drama, id: "scripts-only", capabilities: ["script_generation"], stages: { script } },
    { ...drama, id: "no-films", capabilities: ["script_generation", "role_analysis"], stages: { script, roles } },
    { ...silent, id: "silent", routes: [] },
    {
      ...drama,
      id: "half-served",
      capabilities: ["script_generation", "role_analysis"],
      stages: { script, roles: { chat: "silent" } },
    },
  ];
  const prices = ["scripts-only", "no-films", "half-served"].map((model) => ({
    ...{ model, billing_type: "per_call", unit: "call", price: "0.02" },
  }));
  return stringify({ ...source, models: [...source.models, ...models], prices: [...source.prices, ...prices] });
}

type CallerOptions = NonNullable<Parameters<TaskStage["createCaller"]>[0]>;

export type DramaFront = Omit<TaskStage, "createCaller"> & {
  /** With an open event inbox by default. */
  createCaller(options?: CallerOptions & { isHeard?: boolean }): Promise<DramaCaller>;
};

/** The sandbox's dramas through the whole gateway. */
export async function openDramaFront(options: Parameters<typeof openTaskStage>[0] = {}): Promise<DramaFront> {
  const stage = await openTaskStage({ catalog: writeDramaCatalog, ...options });
  return {
    ...stage,
    async createCaller({ isHeard = true, ...callerOptions } = {}) {
      const caller = await stage.createCaller(callerOptions);
      if (isHeard) await openEventInbox(stage.database, caller.accountId, stage.gateway.parts.clock.now());
      const ask: DramaCaller["ask"] = (more = {}, headers = {}) =>
        caller.post(dramaPath, { ...usualDrama, ...more }, { headers });
      return {
        ...caller,
        ask,
        async order(more, headers) {
          const response = await ask(more, headers);
          const text = await response.text();
          if (response.status !== 202) throw new Error(`A drama was answered with ${response.status}: ${text}`);
          return JSON.parse(text);
        },
        async countOrders() {
          const { rows } = await sql`select 1 from task_orders where account_id = ${caller.accountId}`.execute(
            stage.database,
          );
          return rows.length;
        },
      };
    },
  };
}
