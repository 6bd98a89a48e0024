import { presentMoney } from "../../lib/money.ts";
import type { Price } from "./price.ts";

/** The amounts of a price under their names on the wire, which are also their names in a catalog file. */
export function presentAmounts({ amounts, minimumCharge }: Pick<Price, "amounts" | "minimumCharge">) {
  return {
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
  };
}
