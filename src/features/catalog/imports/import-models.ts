import { servedByKind } from "../../../providers/provider-definition.ts";
import type { ModelEntry, PriceLine } from "../catalog-file.ts";
import type { ModelType } from "../model.ts";
import { type LocatedProblem, type ParsedCatalog, parseCatalog } from "../parse-catalog.ts";
import { readUnit } from "../read-price-line.ts";
import { type CatalogEditor, editCatalogText, type Item } from "./edit-catalog-text.ts";
import { type Decimal, multiply, parseDecimal, presentExactPrice, scale } from "./exact-decimal.ts";
import { readFal, readReplicate } from "./read-media-lists.ts";
import { readLitellm, readModelsDev, readOpenRouter } from "./read-token-lists.ts";
import {
  type AmountName,
  type ImportedModel,
  parseExactJson,
  type SourceEntry,
  type SourceOptions,
} from "./source-entry.ts";

/** The lists of models that can be imported, each in the form of its download. */
const sources = {
  "models.dev": readModelsDev,
  litellm: readLitellm,
  openrouter: readOpenRouter,
  fal: readFal,
  replicate: readReplicate,
} as const satisfies Record<string, (data: unknown, options: SourceOptions) => SourceEntry[]>;

export type ImportSource = keyof typeof sources;
export const importSources = Object.keys(sources) as ImportSource[];

type ImportOrder = {
  source: ImportSource;
  /** The downloaded list. */
  list: string;
  /** The catalog file. */
  catalog: string;
  /** The provider in the catalog that serves the models. */
  provider: string;
  /** Our prices are the vendor's times this. */
  markup: Decimal;
  /** The vendor's names of the models to import; `null` for all. */
  models: ReadonlySet<string> | null;
  options: SourceOptions;
};

export type ImportOutcome =
  | { kind: "malformed"; problems: LocatedProblem[] }
  | { kind: "refused"; message: string; remedy: string }
  | {
      kind: "planned";
      /** The catalog file with the changes. */
      catalog: string;
      added: string[];
      changed: string[];
      /** Models of the provider that the list no longer has. They stay in the file. */
      gone: string[];
      leftOut: { id: string; reason: string }[];
    };

/** Adds the models of a vendor's list to a catalog file, and updates the prices of those that it has. Writes nothing. */
export function importModels(order: ImportOrder): ImportOutcome {
  const parsed = parseCatalog(order.catalog);
  if (parsed.kind === "malformed") return parsed;
  const { file, document } = parsed;
  const provider = file.providers.find(({ id }) => id === order.provider);
  if (provider === undefined) {
    const known = file.providers.map(({ id }) => id).join(", ");
    return {
      kind: "refused",
      message: `The catalog has no provider ${order.provider}.`,
      remedy: `Add it under providers first, or name one of: ${known}.`,
    };
  }
  const entries = readEntries(order);
  if (entries === null) {
    return { kind: "refused", message: "The list is not JSON.", remedy: "Download it again." };
  }
  if (entries.length === 0) {
    return {
      kind: "refused",
      message: `The list has no models of ${order.options.vendor}.`,
      remedy: "Check that the file has the form of its source, and name the vendor as the file does: --vendor <name>",
    };
  }
  return planImport(order, { file, document }, { entries, servedTypes: servedByKind[provider.kind] });
}

function readEntries({ source, list, options, models }: ImportOrder): SourceEntry[] | null {
  let data: unknown;
  try {
    data = parseExactJson(list);
  } catch {
    return null;
  }
  return sources[source](data, options).filter(({ id }) => models === null || models.has(id));
}

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;

type Plan = Extract<ImportOutcome, { kind: "planned" }>;

function planImport(
  { provider, markup, catalog, models }: ImportOrder,
  { file, document }: Pick<Extract<ParsedCatalog, { kind: "parsed" }>, "file" | "document">,
  { entries, servedTypes }: { entries: readonly SourceEntry[]; servedTypes: readonly ModelType[] },
): Plan {
  const editor = editCatalogText(catalog, document);
  const plan: Plan = { kind: "planned", catalog, added: [], changed: [], gone: [], leftOut: [] };
  const taken = new Set(file.models.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  const served = new Map(
    file.models.flatMap((model) =>
      (model.routes ?? []).filter((route) => route.provider === provider).map((route) => [route.upstream_model, model]),
    ),
  );
  const priceAt = new Map(file.prices.flatMap((line, at) => (isGeneral(line) ? [[line.model, at] as const] : [])));
  const listed = new Set(entries.map(({ id }) => id));
  for (const entry of entries) {
    if ("reason" in entry) {
      plan.leftOut.push(entry);
      continue;
    }
    const { model } = entry;
    const line = writePrice(model, markup);
    const known = served.get(model.upstreamModel);
    const reason = known === undefined ? findReason(model, { taken, servedTypes }) : null;
    if (reason !== null) {
      plan.leftOut.push({ id: entry.id, reason });
    } else if (known === undefined) {
      taken.add(model.upstreamModel);
      editor.append("models", writeModel(model, provider));
      editor.append("prices", { model: model.upstreamModel, ...line });
      plan.added.push(`${model.upstreamModel}: ${presentLine(line)}`);
    } else {
      const at = priceAt.get(known.id);
      const before = at === undefined ? undefined : file.prices[at];
      plan.changed.push(...changePrice(editor, known, { at, before, line }));
    }
  }
  for (const [upstreamModel, { id }] of served) {
    const isMeant = models === null || models.has(upstreamModel);
    if (isMeant && !listed.has(upstreamModel)) plan.gone.push(id);
  }
  return { ...plan, catalog: editor.write() };
}

/** A price for everybody, from now on, of all capabilities. */
function isGeneral({ plan, account, capability, effective_at: at }: PriceLine): boolean {
  return plan === undefined && account === undefined && capability === undefined && at === undefined;
}

function findReason(
  { upstreamModel: id, type }: ImportedModel,
  { taken, servedTypes }: { taken: ReadonlySet<string>; servedTypes: readonly ModelType[] },
): string | null {
  if (!servedTypes.includes(type)) return `the provider does not serve ${type}`;
  if (!idPattern.test(id)) return "its name is not a valid id of the catalog";
  if (taken.has(id)) return "the catalog has a model of this name at another provider: add a route to it";
  return null;
}

function writeModel({ upstreamModel, name, type, capabilities, limits }: ImportedModel, provider: string): Item {
  return {
    ...{ id: upstreamModel, name, type, capabilities },
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    routes: [{ provider, upstream_model: upstreamModel }],
  };
}

type WrittenPrice = Pick<PriceLine, "billing_type" | "unit"> & Partial<Record<AmountName, string>>;

function writePrice({ price: { billing_type, unit, amounts } }: ImportedModel, markup: Decimal): WrittenPrice {
  const written = Object.entries(amounts).map(([name, amount]) => [
    name,
    presentExactPrice(multiply(amount as Decimal, markup)),
  ]);
  return { billing_type, unit, ...Object.fromEntries(written) };
}

function listAmounts(line: WrittenPrice): [AmountName, string][] {
  return Object.entries(line).filter(([name]) => name.endsWith("price")) as [AmountName, string][];
}

function presentLine(line: WrittenPrice): string {
  const amounts = listAmounts(line).map(([name, amount]) => `${name} ${amount}`);
  return `${amounts.join(", ")} per ${line.unit}`;
}

type PriceChange = { at: number | undefined; before: PriceLine | undefined; line: WrittenPrice };

/** Sets the amounts of a price in the file, and describes what changes. Prices of plans and accounts stay as they are. */
function changePrice(editor: CatalogEditor, { id }: ModelEntry, { at, before, line }: PriceChange): string[] {
  if (at === undefined || before === undefined) {
    editor.append("prices", { model: id, ...line });
    return [`${id}: ${presentLine(line)}, which it did not have`];
  }
  if (before.items !== undefined) {
    return [`${id}: not changed, because its price has items. The list prices it at ${presentLine(line)}`];
  }
  if (before.billing_type !== line.billing_type || readUnit(before.unit) !== line.unit) {
    return [`${id}: not changed, because the list prices it per ${line.unit} and the catalog per ${before.unit}`];
  }
  const isPerMillion = before.unit !== line.unit;
  const amounts = listAmounts(line).map(([name, amount]) => [name, isPerMillion ? toMillion(amount) : amount] as const);
  const changes = amounts.filter(([name, amount]) => normalize(before[name]) !== amount);
  for (const [name, amount] of changes) editor.setAmount(at, name, amount);
  if (changes.length === 0) return [];
  return [`${id}: ${changes.map(([name, amount]) => `${name} ${before[name] ?? "none"} → ${amount}`).join(", ")}`];
}

/** From a price per thousand. */
function toMillion(amount: string): string {
  return presentExactPrice(scale(parseDecimal(amount) ?? { digits: 0n, places: 0 }, 3));
}

/** `0.5` and `"0.50"` are one price. */
function normalize(amount: string | undefined): string | undefined {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(amount ?? "") ?? [];
  return whole === undefined ? amount : `${whole}.${fraction.replace(/0+$/, "").padEnd(2, "0")}`;
}
