import { sql } from "kysely";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { Catalog } from "./catalog.ts";
import type { Capability, Model } from "./model.ts";
import {
  type OwnPriceName,
  ownPriceNames,
  ownTokenPrices,
  type Price,
  type PriceAmounts,
  readOwnPrices,
} from "./price.ts";

/** The newest version, or `null` before the first one is applied. */
export async function findCatalog(database: Database): Promise<Catalog | null> {
  const version = await database
    .selectFrom("catalog_versions")
    .select(["number", "currency", "providers", "models", "applied_at"])
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

function toRow({ amounts, ...price }: Price): PriceRow {
  const isToken = amounts.billingType === "token";
  return {
    id: price.id,
    model_id: price.modelId,
    capability: price.capability,
    plan_id: price.planId,
    account_id: price.accountId,
    billing_type: amounts.billingType,
    unit: amounts.unit,
    price_nano: isToken ? null : amounts.price,
    input_price_nano: isToken ? amounts.inputPrice : null,
    output_price_nano: isToken ? amounts.outputPrice : null,
    ...toOwnPriceColumns(amounts),
    minimum_charge_nano: price.minimumCharge,
    effective_at: price.effectiveAt,
  };
}

function toOwnPriceColumns(amounts: PriceAmounts): { [name in OwnPriceName as `${name}_nano`]: bigint | null } {
  const columns = ownPriceNames.map((name) => [
    `${name}_nano`,
    amounts.billingType === "token" ? amounts[ownTokenPrices[name]] : null,
  ]);
  return Object.fromEntries(columns);
}

function toNano(amount: bigint | null): Nano | null {
  return amount === null ? null : nano(amount);
}

function toPrice(row: PriceRow): Price {
  return {
    id: row.id,
    modelId: row.model_id,
    // `checkCatalog` accepts no other values.
    capability: row.capability as Capability | null,
    planId: row.plan_id,
    accountId: row.account_id,
    effectiveAt: row.effective_at,
    minimumCharge: nano(row.minimum_charge_nano),
    amounts: toAmounts(row),
  };
}

/** A check constraint guarantees the amounts of each billing type. */
function toAmounts(row: PriceRow): PriceAmounts {
  if (row.billing_type === "token") {
    return {
      billingType: "token",
      unit: row.unit,
      inputPrice: nano(row.input_price_nano ?? 0n),
      outputPrice: nano(row.output_price_nano ?? 0n),
      ...readOwnPrices((name) => toNano(row[`${name}_nano`])),
    };
  }
  return {
    billingType: row.billing_type === "duration" ? "duration" : "per_call",
    unit: row.unit,
    price: nano(row.price_nano ?? 0n),
  };
}
