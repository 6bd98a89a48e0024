import { type Document, isSeq } from "yaml";
import type { CatalogFile, PriceLine } from "./catalog-file.ts";
import type { EditOutcome } from "./edit-catalog.ts";
import { type Decimal, multiply, parseDecimal, presentExactPrice } from "./imports/exact-decimal.ts";
import { parseCatalog } from "./parse-catalog.ts";
import { amountNames } from "./price.ts";

export type MergeOrder = {
  /** The catalog file to add to. */
  catalog: string;
  /** A ready catalog of a vendor. */
  vendor: CatalogFile;
  /** The ids of the models to add. */
  models: ReadonlySet<string>;
  /** Our prices are the ready catalog's times this. */
  markup: Decimal;
  /** Instead of the vendor's own address. */
  baseUrl: string | null;
};

/** Adds a vendor with some of its models and their prices to a catalog file. What the file has stays as it is. */
export function mergeCatalogs({ catalog, vendor, models, markup, baseUrl }: MergeOrder): EditOutcome {
  const parsed = parseCatalog(catalog);
  if (parsed.kind === "malformed") return parsed;
  const { file, document } = parsed;
  if (file.currency !== vendor.currency) {
    return {
      kind: "refused",
      param: "catalog",
      message: `The catalog is in ${file.currency} and the ready one in ${vendor.currency}. Add the vendor by hand.`,
    };
  }
  const taken = new Set(file.models.flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  const added = vendor.models.filter(
    ({ id, aliases = [] }) => models.has(id) && ![id, ...aliases].some((one) => taken.has(one)),
  );
  const addedIds = new Set(added.map(({ id }) => id));
  const used = new Set(added.flatMap(({ routes = [] }) => routes.map(({ provider }) => provider)));
  const known = new Set(file.providers.map(({ id }) => id));
  for (const provider of vendor.providers) {
    if (!used.has(provider.id) || known.has(provider.id)) continue;
    append(document, "providers", baseUrl === null ? provider : { ...provider, ...describeAddress(baseUrl) });
  }
  for (const model of added) append(document, "models", model);
  for (const line of vendor.prices) {
    if (addedIds.has(line.model)) append(document, "prices", raisePrice(line, markup));
  }
  return { kind: "edited", catalog: document.toString({ lineWidth: 120 }) };
}

function describeAddress(baseUrl: string) {
  return { base_url: baseUrl, ...(baseUrl.startsWith("http://") ? { allow_http: true } : {}) };
}

function append(document: Document, list: "providers" | "models" | "prices", item: object): void {
  const items = document.get(list, true);
  if (!isSeq(items)) throw new TypeError("a valid catalog has this list");
  // An empty list is written as [].
  items.flow = false;
  items.add(document.createNode(item));
}

/** Every amount of a price, also those of its items. */
function raisePrice(line: PriceLine, markup: Decimal): PriceLine {
  const raised = Object.fromEntries(
    amountNames.flatMap((name) => (line[name] === undefined ? [] : [[name, raise(line[name], markup)]])),
  );
  const items = line.items?.map((item) => ({ ...item, price: raise(item.price, markup) }));
  return { ...line, ...raised, ...(items === undefined ? {} : { items }) };
}

function raise(amount: string, markup: Decimal): string {
  const decimal = parseDecimal(amount);
  return decimal === null ? amount : presentExactPrice(multiply(decimal, markup));
}
