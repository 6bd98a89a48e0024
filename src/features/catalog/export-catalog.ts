import { stringify } from "yaml";
import type { Catalog } from "./catalog.ts";
import { presentAmounts } from "./present-amounts.ts";
import type { Price } from "./price.ts";

/** Writes the catalog as a file. Applying that file changes nothing. */
export function exportCatalog({ currency, providers, models, prices, multipliers }: Catalog): string {
  const factors = multipliers.length === 0 ? {} : { multipliers };
  return stringify(
    { currency, providers, models, prices: prices.map(presentLine), ...factors },
    { lineWidth: 120, aliasDuplicateObjects: false },
  );
}

/**
 * Writes the catalog for an editor: prices in force have no `effective_at`, so that a changed amount is a new price from then on,
 * and superseded ones are left out.
 */
export function exportForEditing(catalog: Catalog, now: Date): string {
  const prices = catalog.prices.filter((price) => price.effectiveAt > now || isInForce(price, catalog.prices, now));
  const { currency, providers, models, multipliers } = catalog;
  const lines = prices.map((price) => {
    const { effective_at: effectiveAt, ...line } = presentLine(price);
    return price.effectiveAt > now ? { ...line, effective_at: effectiveAt } : line;
  });
  const factors = multipliers.length === 0 ? {} : { multipliers };
  return stringify(
    { currency, providers, models, prices: lines, ...factors },
    { lineWidth: 120, aliasDuplicateObjects: false },
  );
}

function isInForce(price: Price, all: readonly Price[], now: Date): boolean {
  return !all.some(
    (other) =>
      other.modelId === price.modelId &&
      other.capability === price.capability &&
      other.planId === price.planId &&
      other.accountId === price.accountId &&
      other.effectiveAt <= now &&
      other.effectiveAt > price.effectiveAt,
  );
}

function presentLine(price: Price) {
  const { modelId, capability, planId, accountId, effectiveAt } = price;
  return {
    model: modelId,
    ...(capability === null ? {} : { capability }),
    ...(planId === null ? {} : { plan: planId }),
    ...(accountId === null ? {} : { account: accountId }),
    ...presentAmounts(price, "file"),
    effective_at: effectiveAt.toISOString(),
  };
}
