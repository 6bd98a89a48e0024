import { createPlan, getPlan, listPlans, type Plan, updatePlan } from "../features/accounts/index.ts";
import { planPeriods, type QuotaKind, quotaKinds } from "../lib/plan-terms.ts";
import type { Command } from "./command.ts";
import { createWrongValue, limitOptions, readLimits } from "./option-values.ts";
import { presentLimits, presentLimitsJson } from "./present-limits.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const quotaUnits = { text: "tokens", image: "images", video: "seconds of video" } as const;

const termOptions = {
  period: { placeholder: "word", description: `The period of its quotas: ${planPeriods.join(", ")}. Default: month.` },
  ...Object.fromEntries(
    quotaKinds.map((kind) => [
      `${kind}-quota`,
      { placeholder: "number", description: `The quota of ${quotaUnits[kind]} per period.` },
    ]),
  ),
} satisfies Command["options"];

const createCommand: Command = {
  name: "plan create",
  summary: "Create a plan: limits, prices and quotas that accounts share.",
  positionals: ["plan id"],
  options: {
    name: { placeholder: "text", description: "The name. Default: the id." },
    ...termOptions,
    ...limitOptions,
  },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const request = { id, name: options.name ?? id, limits: readLimits(options, {}), ...readTerms(options, null) };
      const plan = await createPlan({ ...systemDependencies, database }, request);
      return { json: presentPlanJson(plan), text: `Created plan ${plan.id}.` };
    }),
};

const updateCommand: Command = {
  name: "plan update",
  summary: "Change a plan. Limits apply within a second, quotas from the next period on.",
  positionals: ["plan id"],
  options: { name: { placeholder: "text", description: "The new name." }, ...termOptions, ...limitOptions },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const current = await getPlan(database, id);
      const plan = await updatePlan(
        { database },
        {
          id,
          limits: readLimits(options, current.limits),
          ...readTerms(options, current),
          ...(options.name === undefined ? {} : { name: options.name }),
        },
      );
      return { json: presentPlanJson(plan), text: `Updated plan ${plan.id}.` };
    }),
};

const listCommand: Command = {
  name: "plan list",
  summary: "List all plans.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const plans = await listPlans(database);
      const rows = plans.map(({ id, name, limits, period, quotas }) => [
        id,
        name,
        presentLimits(limits),
        quotaKinds.map((kind) => `${kind} ${quotas[kind]}`).join(", "),
        period,
      ]);
      return {
        json: plans.map(presentPlanJson),
        text: rows.length === 0 ? "No plans." : presentRows(["ID", "NAME", "LIMITS", "QUOTAS", "PER"], rows),
      };
    }),
};

export const planCommands: readonly Command[] = [createCommand, updateCommand, listCommand];

/** Applies the options to the current period and quotas. */
function readTerms(
  options: Readonly<Record<string, string | undefined>>,
  current: Plan | null,
): Pick<Plan, "period" | "quotas"> {
  const period = planPeriods.find((word) => word === (options.period ?? current?.period ?? "month"));
  if (period === undefined) throw createWrongValue("period", `one of ${planPeriods.join(", ")}`);
  const readQuota = (kind: QuotaKind): bigint => {
    const text = options[`${kind}-quota`];
    if (text === undefined) return current?.quotas[kind] ?? 0n;
    if (/^\d{1,13}$/.test(text)) return BigInt(text);
    throw createWrongValue(`${kind}-quota`, "a whole number");
  };
  return { period, quotas: { text: readQuota("text"), image: readQuota("image"), video: readQuota("video") } };
}

function presentPlanJson({ id, name, limits, period, quotas, createdAt }: Plan): Record<string, unknown> {
  return {
    id,
    name,
    limits: presentLimitsJson(limits),
    period,
    quotas: Object.fromEntries(quotaKinds.map((kind) => [kind, Number(quotas[kind])])),
    created_at: createdAt.toISOString(),
  };
}
