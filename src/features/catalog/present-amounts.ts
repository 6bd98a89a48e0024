import { presentMoney } from "../../lib/money.ts";
import { type OwnPriceName, type OwnTokenPrices, ownPriceNames, ownTokenPrices, type Price } from "./price.ts";

/** The amounts of a price under their wire names, which catalog files use too. */
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

/** Only the prices that are set. */
export function presentOwnPrices(amounts: OwnTokenPrices): { [name in OwnPriceName]?: string } {
  return Object.fromEntries(
    ownPriceNames.flatMap((name) => {
      const price = amounts[ownTokenPrices[name]];
      return price === null ? [] : [[name, presentMoney(price)]];
    }),
  );
}
