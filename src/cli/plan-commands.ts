import { createPlan, getPlan, listPlans, type Plan, updatePlan } from "../features/accounts/index.ts";
import type { Command } from "./command.ts";
import { limitOptions, readLimits } from "./option-values.ts";
import { presentLimits, presentLimitsJson } from "./present-limits.ts";
import { presentRows } from "./present-rows.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const createCommand: Command = {
  name: "plan create",
  summary: "Creates a plan: limits and prices that accounts share.",
  positionals: ["plan id"],
  options: { name: { placeholder: "text", explains: "Its name; without it: its id." }, ...limitOptions },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const request = { id, name: options.name ?? id, limits: readLimits(options, {}) };
      const plan = await createPlan({ ...systemParts, database }, request);
      return { json: presentPlanJson(plan), text: `Created the plan ${plan.id}.` };
    }),
};

const updateCommand: Command = {
  name: "plan update",
  summary: "Changes a plan; its accounts feel it within a second.",
  positionals: ["plan id"],
  options: { name: { placeholder: "text", explains: "Its new name." }, ...limitOptions },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const { limits } = await getPlan(database, id);
      const plan = await updatePlan(
        { database },
        { id, limits: readLimits(options, limits), ...(options.name === undefined ? {} : { name: options.name }) },
      );
      return { json: presentPlanJson(plan), text: `Changed the plan ${plan.id}.` };
    }),
};

const listCommand: Command = {
  name: "plan list",
  summary: "Lists all plans.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const plans = await listPlans(database);
      const rows = plans.map(({ id, name, limits }) => [id, name, presentLimits(limits)]);
      return {
        json: plans.map(presentPlanJson),
        text: rows.length === 0 ? "There are no plans." : presentRows(["ID", "NAME", "LIMITS"], rows),
      };
    }),
};

export const planCommands: readonly Command[] = [createCommand, updateCommand, listCommand];

function presentPlanJson({ id, name, limits, createdAt }: Plan): Record<string, unknown> {
  return { id, name, limits: presentLimitsJson(limits), created_at: createdAt.toISOString() };
}
