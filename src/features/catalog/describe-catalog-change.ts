import { isDeepStrictEqual } from "node:util";
import { presentMoney } from "../../lib/money.ts";
import type { Catalog } from "./catalog.ts";
import { presentOwnPrices } from "./present-amounts.ts";
import type { OwnPriceName, Price, PriceAmounts } from "./price.ts";

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

function presentPriceLine({
  modelId,
  capability,
  planId,
  accountId,
  amounts,
  minimumCharge,
  effectiveAt,
}: Price): string {
  const amount = [
    amounts.billingType === "token"
      ? `${presentMoney(amounts.inputPrice)} in, ${presentMoney(amounts.outputPrice)} out`
      : presentMoney(amounts.price),
    ...listOwnPrices(amounts),
  ].join(", ");
  const minimum = minimumCharge === 0n ? "" : `, at least ${presentMoney(minimumCharge)}`;
  const scope = planId !== null ? ` for plan ${planId}` : accountId !== null ? ` for ${accountId}` : "";
  const what = capability === null ? modelId : `${modelId} (${capability})`;
  return `${what}${scope}: ${amount} per ${amounts.unit}${minimum} from ${effectiveAt.toISOString()}`;
}

const shortNames = {
  cached_input_price: "cached",
  cache_write_5m_price: "cache write 5m",
  cache_write_1h_price: "cache write 1h",
  audio_input_price: "audio in",
  reasoning_price: "reasoning",
  audio_output_price: "audio out",
} as const satisfies Record<OwnPriceName, string>;

function listOwnPrices(amounts: PriceAmounts): string[] {
  if (amounts.billingType !== "token") return [];
  return Object.entries(presentOwnPrices(amounts)).map(
    ([name, price]) => `${price} ${shortNames[name as OwnPriceName]}`,
  );
}
