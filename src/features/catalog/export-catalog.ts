import { stringify } from "yaml";
import { presentMoney } from "../../lib/money.ts";
import type { Catalog } from "./catalog.ts";
import type { Price } from "./price.ts";

/** The catalog as a file that `applyCatalog` accepts and that changes nothing when applied. */
export function exportCatalog({ currency, providers, models, prices }: Catalog): string {
  return stringify(
    { currency, providers, models, prices: prices.map(presentLine) },
    { lineWidth: 120, aliasDuplicateObjects: false },
  );
}

function presentLine({ modelId, capability, planId, accountId, amounts, minimumCharge, effectiveAt }: Price) {
  return {
    model: modelId,
    ...(capability === null ? {} : { capability }),
    ...(planId === null ? {} : { plan: planId }),
    ...(accountId === null ? {} : { account: accountId }),
    billing_type: amounts.billingType,
    unit: amounts.unit,
    ...(amounts.billingType === "token"
      ? {
          input_price: presentMoney(amounts.inputPrice),
          output_price: presentMoney(amounts.outputPrice),
          ...(amounts.cachedInputPrice === null ? {} : { cached_input_price: presentMoney(amounts.cachedInputPrice) }),
        }
      : { price: presentMoney(amounts.price) }),
    ...(minimumCharge === 0n ? {} : { minimum_charge: presentMoney(minimumCharge) }),
    effective_at: effectiveAt.toISOString(),
  };
}
