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
