import { presentMoney } from "../../lib/money.ts";
import { type OwnPriceName, type OwnTokenPrices, ownPriceNames, ownTokenPrices, type Price } from "./price.ts";

/** The amounts of a price under their names on the wire, which are also their names in a catalog file. */
export function presentAmounts({ amounts, minimumCharge }: Pick<Price, "amounts" | "minimumCharge">) {
  return {
    billing_type: amounts.billingType,
    unit: amounts.unit,
    ...(amounts.billingType === "token"
      ? {
          input_price: presentMoney(amounts.inputPrice),
          output_price: presentMoney(amounts.outputPrice),
          ...presentOwnPrices(amounts),
        }
      : { price: presentMoney(amounts.price) }),
    ...(minimumCharge === 0n ? {} : { minimum_charge: presentMoney(minimumCharge) }),
  };
}

/** Those that there are, under their names on the wire. */
export function presentOwnPrices(amounts: OwnTokenPrices): { [name in OwnPriceName]?: string } {
  return Object.fromEntries(
    ownPriceNames.flatMap((name) => {
      const price = amounts[ownTokenPrices[name]];
      return price === null ? [] : [[name, presentMoney(price)]];
    }),
  );
}
