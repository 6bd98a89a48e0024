import { type Static, Type } from "typebox";
import { nano, presentMoney } from "../../../lib/money.ts";
import { type CatalogOutcome, type EditOutcome, importSources, modelTypes } from "../../catalog/index.ts";
import type { Comparison, Simulation } from "../../simulation/index.ts";
import { moneySchema } from "../../usage/index.ts";
import { reasonField } from "../edge/reason.ts";
import type { CatalogVersion } from "./catalog-admin-store.ts";

const time = Type.String({ format: "date-time" });
const maybeText = Type.Union([Type.String(), Type.Null()]);
const closed = { additionalProperties: false };
const money = moneySchema("In the service's currency.");

export const catalogBytesMax = 4 * 1024 * 1024;

/** A catalog file. */
export const sourceField = Type.String({ maxLength: catalogBytesMax, description: "A catalog file, in YAML." });

export const catalogSchema = Type.Object({
  object: Type.Literal("catalog"),
  version: Type.Integer({ description: "0 before the first one." }),
  applied_at: Type.Union([time, Type.Null()]),
  by: maybeText,
  reason: maybeText,
  catalog: Type.String({
    description: "The version as a file. Prices in force have no `effective_at`: a changed amount is a new price.",
  }),
});

const versionSchema = Type.Object({
  object: Type.Literal("catalog_version"),
  id: Type.String(),
  applied_at: time,
  by: Type.Union([Type.String(), Type.Null()], { description: "`null` if the audit log has no entry of it." }),
  reason: maybeText,
});

export const versionListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(versionSchema),
  has_more: Type.Boolean(),
  next_cursor: maybeText,
});

const problemSchema = Type.Object({ line: Type.Integer(), column: Type.Integer(), message: Type.String() });

export const outcomeSchema = Type.Object({
  object: Type.Literal("catalog_check"),
  ok: Type.Boolean(),
  problems: Type.Array(problemSchema),
  warnings: Type.Array(problemSchema),
  changes: Type.Array(Type.String(), { description: "What applying the file would change, or changed." }),
  version: Type.Union([Type.Integer(), Type.Null()], { description: "The version that the file is, or would become." }),
});

export const sourceSchema = Type.Object({ catalog: sourceField }, closed);

export const applySchema = Type.Object(
  {
    catalog: sourceField,
    base_version: Type.Integer({ minimum: 0, description: "The version that you edited." }),
    reason: reasonField,
  },
  closed,
);

const daysMax = 366;

export const simulationBodySchema = Type.Object(
  {
    catalog: sourceField,
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: daysMax, description: "How far back; 30 by default." })),
  },
  closed,
);

const sums = {
  calls: Type.Integer(),
  charged: money,
  simulated: money,
  change: money,
  cost: money,
  margin: money,
};

export const simulationSchema = Type.Object({
  object: Type.Literal("catalog_simulation"),
  ok: Type.Boolean(),
  problems: Type.Array(problemSchema),
  since: time,
  kept: Type.Integer({
    description: "Charges that keep their amount: their stored usage does not decide the new one.",
  }),
  total: Type.Object(sums),
  models: Type.Array(Type.Object({ model: Type.String(), ...sums })),
  accounts: Type.Array(Type.Object({ account_id: Type.String(), ...sums }), {
    description: "The 20 whose bills change most.",
  }),
});

const name = (description: string) => Type.String({ minLength: 1, maxLength: 254, description });
const amount = Type.String({ maxLength: 40, pattern: "^\\d{1,9}(\\.\\d{1,9})?$", examples: ["0.50"] });

export const editSchema = Type.Object(
  {
    catalog: sourceField,
    edit: Type.Union([
      Type.Object(
        {
          kind: Type.Literal("set_price"),
          model: name("A model's id."),
          amounts: Type.Record(Type.String({ pattern: "^[a-z0-9_]{1,40}$" }), amount),
        },
        closed,
      ),
      Type.Object(
        {
          kind: Type.Literal("add_model"),
          provider: name("A provider of the file."),
          upstream_model: name("As the vendor names it."),
          id: name("As customers name it."),
          name: name("For people."),
          max_output_tokens: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
          input_price: amount,
          output_price: amount,
        },
        closed,
      ),
      Type.Object(
        {
          kind: Type.Literal("set_route"),
          model: name("A model's id."),
          provider: name("The provider of one of its routes."),
          upstream_model: name("As the vendor names it."),
          priority: Type.Integer({ minimum: 0, maximum: 1000, description: "The lowest is tried first." }),
          weight: Type.Integer({ minimum: 1, maximum: 1000, description: "Its share among routes of its priority." }),
        },
        closed,
      ),
      Type.Object({ kind: Type.Literal("remove_model"), model: name("A model's id.") }, closed),
    ]),
  },
  closed,
);

export const editedSchema = Type.Object({
  object: Type.Literal("edited_catalog"),
  catalog: Type.String(),
  notes: Type.Array(Type.String()),
  problems: Type.Array(problemSchema, { description: "If the file could not be read; it is unchanged then." }),
});

const factor = Type.String({ maxLength: 20, pattern: "^\\d{1,6}(\\.\\d{1,6})?$", examples: ["1.2"] });

export const vendorBodySchema = Type.Object(
  {
    catalog: sourceField,
    vendor: name("A ready catalog."),
    models: Type.Array(name("A model's id."), { maxItems: 2000 }),
    markup: Type.Optional(factor),
    base_url: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  },
  closed,
);

export const importBodySchema = Type.Object(
  {
    catalog: sourceField,
    source: Type.Enum([...importSources]),
    list: Type.String({ maxLength: 16 * 1024 * 1024, description: "The downloaded list." }),
    provider: name("The provider of the file that serves the models."),
    vendor: Type.Optional(name("The vendor's name in the list; by default the provider's id.")),
    markup: Type.Optional(factor),
    models: Type.Optional(Type.Array(name("The vendor's name of a model."), { maxItems: 2000 })),
    type: Type.Optional(Type.Enum([...modelTypes])),
    price: Type.Optional(factor),
  },
  closed,
);

export function presentVersion({ number, appliedAt, by, reason }: CatalogVersion): Static<typeof versionSchema> {
  return { object: "catalog_version", id: String(number), applied_at: appliedAt.toISOString(), by, reason };
}

export function presentOutcome(outcome: CatalogOutcome): Static<typeof outcomeSchema> {
  const object = "catalog_check" as const;
  if (outcome.kind === "refused") {
    return { object, ok: false, problems: outcome.problems, warnings: [], changes: [], version: null };
  }
  const { version, changes, warnings } = outcome;
  return { object, ok: true, problems: [], warnings, changes, version };
}

export function presentEdited(
  catalog: string,
  outcome: Exclude<EditOutcome, { kind: "refused" }>,
  notes: string[] = [],
): Static<typeof editedSchema> {
  return outcome.kind === "edited"
    ? { object: "edited_catalog", catalog: outcome.catalog, notes, problems: [] }
    : { object: "edited_catalog", catalog, notes, problems: outcome.problems };
}

const accountsMax = 20;

export function presentSimulation(simulation: Simulation, since: Date): Static<typeof simulationSchema> {
  const { models, accounts, kept } = simulation;
  return {
    ...{ object: "catalog_simulation", ok: true, problems: [], since: since.toISOString(), kept },
    total: presentSums(simulation),
    models: sortByChange(models).map(([model, compared]) => ({ model, ...presentSums(compared) })),
    accounts: sortByChange(accounts)
      .slice(0, accountsMax)
      .filter(([, { billed, simulated }]) => billed !== simulated)
      .map(([id, compared]) => ({ account_id: id, ...presentSums(compared) })),
  };
}

function sortByChange<K>(all: ReadonlyMap<K, Comparison>): [K, Comparison][] {
  const change = ({ billed, simulated }: Comparison): bigint =>
    simulated > billed ? simulated - billed : billed - simulated;
  return [...all].toSorted(([, a], [, b]) => Number(change(b) - change(a)));
}

function presentSums({ calls, billed, simulated, cost }: Comparison) {
  return {
    ...{ calls, charged: presentMoney(billed), simulated: presentMoney(simulated), cost: presentMoney(cost) },
    ...{ change: presentMoney(nano(simulated - billed)), margin: presentMoney(nano(simulated - cost)) },
  };
}
