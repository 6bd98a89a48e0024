import { stringify } from "yaml";
import type { Catalog } from "./catalog.ts";
import { presentAmounts } from "./present-amounts.ts";
import type { Price } from "./price.ts";

/** Writes the catalog as a file. Applying that file changes nothing. */
export function exportCatalog({ currency, providers, models, prices }: Catalog): string {
  return stringify(
    { currency, providers, models, prices: prices.map(presentLine) },
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
    ...presentAmounts(price),
    effective_at: effectiveAt.toISOString(),
  };
}
