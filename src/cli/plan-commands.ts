import { createPlan, getPlan, listPlans, type Plan, updatePlan } from "../features/accounts/index.ts";
import { findCatalog, listQuotaLosses } from "../features/catalog/index.ts";
import { parseMoney, presentMoney } from "../lib/money.ts";
import { planPeriods, type QuotaKind, quotaKinds } from "../lib/plan-terms.ts";
import { readQuotaWeights, weighedKinds, writeQuotaWeights } from "../lib/quota-weights.ts";
import type { Database } from "../platform/database/database.ts";
import type { Command, CommandResult } from "./command.ts";
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
  "model-weights": {
    placeholder: "list",
    description:
      "How many units of the text quota a token of a model takes: `gpt-5=10,*=1`. An empty list removes them. Default: 1.",
  },
  "kind-weights": {
    placeholder: "list",
    description: "The same for kinds of tokens: `cached=0.1,output=4`.",
  },
  price: { placeholder: "amount", description: "The price of a period, for customers who buy it. `none` removes it." },
  sale: { placeholder: "word", description: "Whether customers can buy it: on or off. Default: off." },
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
      return await presentChanged(database, plan, `Created plan ${plan.id}.`);
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
      return await presentChanged(database, plan, `Updated plan ${plan.id}.`);
    }),
};

const listCommand: Command = {
  name: "plan list",
  summary: "List all plans.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const plans = await listPlans(database);
      const rows = plans.map(({ id, name, limits, period, quotas, price, isForSale }) => [
        id,
        name,
        presentLimits(limits),
        quotaKinds.map((kind) => `${kind} ${quotas[kind]}`).join(", "),
        period,
        price === null ? "" : `${presentMoney(price)}${isForSale ? ", for sale" : ""}`,
      ]);
      return {
        json: plans.map(presentPlanJson),
        text: rows.length === 0 ? "No plans." : presentRows(["ID", "NAME", "LIMITS", "QUOTAS", "PER", "PRICE"], rows),
      };
    }),
};

export const planCommands: readonly Command[] = [createCommand, updateCommand, listCommand];

/** Applies the options to the current period and quotas. */
function readTerms(
  options: Readonly<Record<string, string | undefined>>,
  current: Plan | null,
): Pick<Plan, "period" | "quotas" | "weights" | "price" | "isForSale"> {
  const period = planPeriods.find((word) => word === (options.period ?? current?.period ?? "month"));
  if (period === undefined) throw createWrongValue("period", `one of ${planPeriods.join(", ")}`);
  const readQuota = (kind: QuotaKind): bigint => {
    const text = options[`${kind}-quota`];
    if (text === undefined) return current?.quotas[kind] ?? 0n;
    if (/^\d{1,13}$/.test(text)) return BigInt(text);
    throw createWrongValue(`${kind}-quota`, "a whole number");
  };
  return {
    period,
    quotas: { text: readQuota("text"), image: readQuota("image"), video: readQuota("video") },
    weights: readWeights(options, current),
    price: readPrice(options.price, current),
    isForSale: readSale(options.sale, current),
  };
}

function readPrice(text: string | undefined, current: Plan | null): Plan["price"] {
  if (text === undefined) return current?.price ?? null;
  const price = text === "none" ? null : parseMoney(text);
  if (text !== "none" && (price === null || price === 0n))
    throw createWrongValue("price", "an amount above 0, or none");
  return price;
}

function readSale(text: string | undefined, current: Plan | null): boolean {
  if (text === undefined) return current?.isForSale ?? false;
  if (text === "on" || text === "off") return text === "on";
  throw createWrongValue("sale", "on or off");
}

const weightRule = "a list such as `name=0.5,other=10`, with weights above 0 and below 1000";

function readWeights(options: Readonly<Record<string, string | undefined>>, current: Plan | null): Plan["weights"] {
  const written = current?.weights == null ? { models: {}, kinds: {} } : writeQuotaWeights(current.weights);
  const models = readWeightList("model-weights", options["model-weights"]) ?? written.models;
  const kinds = readWeightList("kind-weights", options["kind-weights"]) ?? written.kinds;
  if (Object.keys(kinds).some((kind) => !(weighedKinds as readonly string[]).includes(kind))) {
    throw createWrongValue("kind-weights", `a list of ${weighedKinds.join(" and ")}`);
  }
  if (Object.keys(models).length + Object.keys(kinds).length === 0) return null;
  const weights = readQuotaWeights({ models, kinds });
  if (weights === null) throw createWrongValue("model-weights", weightRule);
  return weights;
}

/** `null` if the option is not given. */
function readWeightList(name: string, text: string | undefined): Record<string, string> | null {
  if (text === undefined) return null;
  const pairs = text
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, weight] = /^(\S+?)\s*=\s*([\d.]+)$/.exec(pair) ?? [];
      if (key === undefined || weight === undefined) throw createWrongValue(name, weightRule);
      return [key, weight];
    }),
  );
}

/** With a warning if the plan's quotas can cost more than its price. */
async function presentChanged(database: Database, plan: Plan, text: string): Promise<CommandResult> {
  const catalog = await findCatalog(database);
  const warnings = listQuotaLosses(catalog?.models ?? [], [plan]).map(({ message }) => message);
  return {
    json: { ...presentPlanJson(plan), ...(warnings.length === 0 ? {} : { warnings }) },
    text: [text, ...warnings.map((message) => `warning: ${message}`)].join("\n"),
  };
}

function presentPlanJson(plan: Plan): Record<string, unknown> {
  const { id, name, limits, period, quotas, weights, price, isForSale, createdAt } = plan;
  return {
    id,
    name,
    limits: presentLimitsJson(limits),
    period,
    quotas: Object.fromEntries(quotaKinds.map((kind) => [kind, Number(quotas[kind])])),
    ...(weights === null ? {} : { weights: writeQuotaWeights(weights) }),
    ...(price === null ? {} : { price: presentMoney(price) }),
    for_sale: isForSale,
    created_at: createdAt.toISOString(),
  };
}
