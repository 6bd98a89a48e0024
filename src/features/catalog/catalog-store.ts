import { sql } from "kysely";
import { presentFactor } from "../../lib/factor.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { Catalog } from "./catalog.ts";
import { createPrice } from "./compile-price.ts";
import type { Capability, Model } from "./model.ts";
import type { Multiplier } from "./multiplier.ts";
import {
  type BillingType,
  findCountedItem,
  findHighestRate,
  type ItemName,
  isShort,
  type Price,
  type PriceItem,
  type PriceTerms,
  sortItems,
  type Unit,
} from "./price.ts";
import { readServiceTiers, readWhen } from "./read-price-line.ts";

/** The newest version, or this one; `null` if there is none. */
export async function findCatalog(database: Database, number: number | null = null): Promise<Catalog | null> {
  const version = await database
    .selectFrom("catalog_versions")
    .select(["number", "currency", "providers", "models", "multipliers", "applied_at"])
    .$if(number !== null, (query) => query.where("number", "=", number ?? 0))
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  if (version === undefined) return null;
  const prices = await database
    .selectFrom("catalog_prices")
    .innerJoin("prices", "prices.id", "catalog_prices.price_id")
    .selectAll("prices")
    .where("catalog_version", "=", version.number)
    .orderBy("position")
    .execute();
  return {
    version: version.number,
    currency: version.currency,
    appliedAt: version.applied_at,
    // Only `insertCatalog` writes these columns, from validated values.
    providers: version.providers as ProviderDefinition[],
    models: version.models as Model[],
    multipliers: version.multipliers as Multiplier[],
    prices: prices.map(toPrice),
  };
}

/** Serializes applies, so that each is compared with the version it replaces. */
export async function lockCatalog(tx: Database): Promise<void> {
  await sql`lock table catalog_versions in share row exclusive mode`.execute(tx);
}

export async function insertCatalog(tx: Database, catalog: Catalog & { newPrices: readonly Price[] }): Promise<void> {
  await tx
    .insertInto("catalog_versions")
    .values({
      number: catalog.version,
      currency: catalog.currency,
      providers: JSON.stringify(catalog.providers),
      models: JSON.stringify(catalog.models),
      multipliers: JSON.stringify(catalog.multipliers),
      applied_at: catalog.appliedAt,
    })
    .execute();
  if (catalog.newPrices.length > 0) {
    await tx
      .insertInto("prices")
      .values(catalog.newPrices.map((price) => ({ ...toRow(price), created_at: catalog.appliedAt })))
      .execute();
  }
  if (catalog.prices.length > 0) {
    const members = catalog.prices.map((price, position) => ({
      catalog_version: catalog.version,
      position,
      price_id: price.id,
    }));
    await tx.insertInto("catalog_prices").values(members).execute();
  }
}

/** Returns a price version, in force or superseded. */
export async function findPrice(database: Database, id: string): Promise<Price | null> {
  const row = await database.selectFrom("prices").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : toPrice(row);
}

/** Maps price ids to model ids. */
export async function listPriceModels(
  database: Database,
  priceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (priceIds.length === 0) return new Map();
  const rows = await database.selectFrom("prices").select(["id", "model_id"]).where("id", "in", priceIds).execute();
  return new Map(rows.map(({ id, model_id }) => [id, model_id]));
}

type PriceRow = Omit<Tables["prices"], "created_at">;

/** The columns have the amounts of the short form, which every version of the gateway reads; `terms` has the rest. */
function toRow({ terms, amounts, ...price }: Price): PriceRow {
  const isToken = amounts.billingType === "token";
  const plain = new Map(terms.items.filter((one) => isShort(one, terms)).map(({ item, rate }) => [item, rate]));
  const read = (item: ItemName): Nano | null => (isToken ? (plain.get(item) ?? null) : null);
  return {
    id: price.id,
    model_id: price.modelId,
    capability: price.capability,
    plan_id: price.planId,
    account_id: price.accountId,
    billing_type: terms.billingType,
    unit: terms.unit,
    price_nano: isToken ? null : (plain.get(findCountedItem(terms.unit)) ?? findHighestRate(terms.items, terms.unit)),
    input_price_nano: read("input"),
    output_price_nano: read("output"),
    cached_input_price_nano: read("cached_input"),
    cache_write_5m_price_nano: read("cache_write_5m"),
    cache_write_1h_price_nano: read("cache_write_1h"),
    audio_input_price_nano: read("input_audio"),
    reasoning_price_nano: read("reasoning"),
    audio_output_price_nano: read("output_audio"),
    minimum_charge_nano: terms.minimumCharge,
    effective_at: price.effectiveAt,
    terms: isOnlyShort(terms) ? null : JSON.stringify(presentTerms(terms)),
  };
}

type StoredTerms = ReturnType<typeof presentTerms>;

/** JSON numbers cannot represent 64-bit integers, so rates are stored as strings. */
function presentTerms({ items, tierScope, serviceTiers }: PriceTerms) {
  return {
    items: items.map(({ item, rate, aboveInputTokens, when }) => ({
      ...{ item, rate: String(rate) },
      ...(aboveInputTokens === undefined ? {} : { above_input_tokens: aboveInputTokens }),
      ...(when === undefined ? {} : { when }),
    })),
    tier_scope: tierScope,
    service_tiers: Object.fromEntries(Object.entries(serviceTiers).map(([name, one]) => [name, presentFactor(one)])),
  };
}

function isOnlyShort(terms: PriceTerms): boolean {
  const { items, serviceTiers, tierScope } = terms;
  return items.every((one) => isShort(one, terms)) && Object.keys(serviceTiers).length === 0 && tierScope === "call";
}

function toPrice(row: PriceRow): Price {
  const identity = {
    id: row.id,
    modelId: row.model_id,
    // `checkCatalog` accepts no other values.
    capability: row.capability as Capability | null,
    planId: row.plan_id,
    accountId: row.account_id,
    effectiveAt: row.effective_at,
  };
  const common = {
    billingType: row.billing_type as BillingType,
    unit: row.unit as Unit,
    minimumCharge: nano(row.minimum_charge_nano),
  };
  // Only `toRow` writes this column.
  return createPrice(identity, { ...common, ...readTerms(row, row.terms as StoredTerms | null) });
}

type VaryingTerms = Pick<PriceTerms, "items" | "tierScope" | "serviceTiers">;

function readTerms(row: PriceRow, stored: StoredTerms | null): VaryingTerms {
  if (stored === null) return { items: sortItems(listColumns(row)), tierScope: "call", serviceTiers: {} };
  return {
    items: stored.items.map(({ item, rate, above_input_tokens: aboveInputTokens, when = {} }) => ({
      ...{ item, rate: nano(BigInt(rate)) },
      ...(aboveInputTokens === undefined ? {} : { aboveInputTokens }),
      ...readWhen(when),
    })),
    tierScope: stored.tier_scope,
    serviceTiers: readServiceTiers(stored.service_tiers),
  };
}

/** A check constraint guarantees the amounts of each billing type. */
function listColumns(row: PriceRow): PriceItem[] {
  const columns: [ItemName, bigint | null][] = [
    [findCountedItem(row.unit as Unit), row.price_nano],
    ["input", row.input_price_nano],
    ["output", row.output_price_nano],
    ["cached_input", row.cached_input_price_nano],
    ["cache_write_5m", row.cache_write_5m_price_nano],
    ["cache_write_1h", row.cache_write_1h_price_nano],
    ["input_audio", row.audio_input_price_nano],
    ["reasoning", row.reasoning_price_nano],
    ["output_audio", row.audio_output_price_nano],
  ];
  return columns.flatMap(([item, amount]) => (amount === null ? [] : [{ item, rate: nano(amount) }]));
}
