import { stringify } from "yaml";
import type { Catalog } from "./catalog.ts";
import { presentAmounts } from "./present-amounts.ts";
import type { Price } from "./price.ts";

/** The catalog as a file that `applyCatalog` accepts and that changes nothing when applied. */
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
