import { isDeepStrictEqual } from "node:util";
import { presentFactor } from "../../lib/factor.ts";
import { presentMoney } from "../../lib/money.ts";
import type { Catalog } from "./catalog.ts";
import type { Multiplier } from "./multiplier.ts";
import { findCountedItem, type ItemName, type Price, type PriceItem, type PriceTerms } from "./price.ts";

type CatalogContent = Omit<Catalog, "version" | "appliedAt">;

/** Lists the differences, one per line: `+` added, `-` removed, `~` changed. */
export function describeCatalogChange(current: CatalogContent | null, next: CatalogContent): string[] {
  return [
    ...(current !== null && current.currency !== next.currency
      ? [`~ currency ${current.currency} → ${next.currency}`]
      : []),
    ...describeEntries("provider", current?.providers ?? [], next.providers),
    ...describeEntries("model", current?.models ?? [], next.models),
    ...describePrices(current?.prices ?? [], next.prices),
    ...describeMultipliers(current?.multipliers ?? [], next.multipliers),
  ];
}

function describeEntries<T extends { id: string }>(kind: string, before: readonly T[], after: readonly T[]): string[] {
  const oldById = new Map(before.map((entry) => [entry.id, entry]));
  const newIds = new Set(after.map(({ id }) => id));
  return [
    ...before.filter(({ id }) => !newIds.has(id)).map(({ id }) => `- ${kind} ${id}`),
    ...after.flatMap((entry) => {
      const old = oldById.get(entry.id);
      if (old === undefined) return [`+ ${kind} ${entry.id}`];
      const fields = listChangedFields(old, entry);
      return fields.length === 0 ? [] : [`~ ${kind} ${entry.id}: ${fields.join(", ")}`];
    }),
    ...describeOrder(`${kind}s`, before, after),
  ];
}

/** Customers see models in the catalog's order, so a new order is a change. */
function describeOrder(kinds: string, before: readonly { id: string }[], after: readonly { id: string }[]): string[] {
  const newIds = after.map(({ id }) => id);
  const oldIds = before.map(({ id }) => id);
  const kept = new Set(oldIds).intersection(new Set(newIds));
  const isSame = isDeepStrictEqual(
    oldIds.filter((id) => kept.has(id)),
    newIds.filter((id) => kept.has(id)),
  );
  return isSame ? [] : [`~ ${kinds} in another order`];
}

function listChangedFields(before: object, after: object): string[] {
  const old = new Map(Object.entries(before));
  const fresh = new Map(Object.entries(after));
  const names = new Set([...old.keys(), ...fresh.keys()]);
  return [...names].filter((name) => !isDeepStrictEqual(old.get(name), fresh.get(name)));
}

function describePrices(before: readonly Price[], after: readonly Price[]): string[] {
  const oldIds = new Set(before.map(({ id }) => id));
  const newIds = new Set(after.map(({ id }) => id));
  return [
    ...before.filter(({ id }) => !newIds.has(id)).map((price) => `- price ${presentPriceLine(price)}`),
    ...after.filter(({ id }) => !oldIds.has(id)).map((price) => `+ price ${presentPriceLine(price)}`),
    ...describeOrder("prices", before, after),
  ];
}

function presentPriceLine(price: Price): string {
  const { modelId, capability, planId, accountId, terms, minimumCharge, effectiveAt } = price;
  const { items, tierScope, serviceTiers } = terms;
  const rates = items.map((item) => `${presentMoney(item.rate)}${describeItem(item, terms)}`);
  const factors = Object.entries(serviceTiers).map(([name, factor]) => `, ${name} × ${presentFactor(factor)}`);
  const scope = planId !== null ? ` for plan ${planId}` : accountId !== null ? ` for ${accountId}` : "";
  const what = capability === null ? modelId : `${modelId} (${capability})`;
  const tiers = tierScope === "part" ? ", tiers by part" : "";
  const minimum = minimumCharge === 0n ? "" : `, at least ${presentMoney(minimumCharge)}`;
  return `${what}${scope}: ${rates.join(", ")} per ${terms.unit}${tiers}${factors.join("")}${minimum} from ${effectiveAt.toISOString()}`;
}

const shortNames: Partial<Record<ItemName, string>> = {
  input: "in",
  output: "out",
  cached_input: "cached",
  cache_write_5m: "cache write 5m",
  cache_write_1h: "cache write 1h",
  input_audio: "audio in",
  output_audio: "audio out",
};

/** The unit names the item that it counts. */
function describeItem({ item, aboveInputTokens, when = {} }: PriceItem, { unit, billingType }: PriceTerms): string {
  const isCounted = billingType !== "token" && item === findCountedItem(unit);
  const conditions = [
    ...(aboveInputTokens === undefined ? [] : [`above ${aboveInputTokens} tokens`]),
    ...Object.entries(when).map(([key, value]) => `${key} ${value}`),
  ];
  const name = isCounted ? "" : ` ${shortNames[item] ?? item}`;
  return conditions.length === 0 ? name : `${name} (${conditions.join(", ")})`;
}

function describeMultipliers(before: readonly Multiplier[], after: readonly Multiplier[]): string[] {
  const [old, fresh] = [before, after].map((list) => new Set(list.map(presentMultiplier)));
  return [
    ...[...(old ?? [])].filter((line) => fresh?.has(line) === false).map((line) => `- multiplier ${line}`),
    ...[...(fresh ?? [])].filter((line) => old?.has(line) === false).map((line) => `+ multiplier ${line}`),
  ];
}

function presentMultiplier(multiplier: Multiplier): string {
  const { plan, account, type, model, factor, effective_at: start, ends_at: end } = multiplier;
  const scope = account === undefined ? `plan ${plan}` : account;
  const what = model ?? (type === undefined ? "all models" : `${type} models`);
  const from = start === undefined ? "" : ` from ${new Date(start).toISOString()}`;
  const until = end === undefined ? "" : ` until ${new Date(end).toISOString()}`;
  return `${factor} × ${what} for ${scope}${from}${until}`;
}
