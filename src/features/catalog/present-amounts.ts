import { presentFactor } from "../../lib/factor.ts";
import { presentMoney, presentNanoFraction } from "../../lib/money.ts";
import {
  findCountedItem,
  findItemPer,
  isShort,
  type Price,
  type PriceItem,
  type PriceTerms,
  type TokenItem,
  type TokenPriceName,
  tokenPriceNames,
} from "./price.ts";

/** `file`: as an operator writes it. `wire`: for an account, with every field of the contract. */
type Form = "file" | "wire";

type Priced = Pick<Price, "terms" | "amounts" | "minimumCharge" | "factor">;

/** The amounts of a price under their wire names, which catalog files use too. */
export function presentAmounts(price: Priced, form: Form) {
  const { terms, minimumCharge } = price;
  const rest = form === "wire" && hasChoice(terms) ? terms.items : terms.items.filter((one) => !isShort(one, terms));
  const tiers = Object.entries(terms.serviceTiers).map(([name, factor]) => [name, presentFactor(factor)]);
  return {
    billing_type: terms.billingType,
    unit: terms.unit as string,
    ...presentShort(price, form),
    ...(rest.length === 0 ? {} : { items: rest.map((one) => presentItem(one, price)) }),
    ...(terms.tierScope === "call" ? {} : { tier_scope: terms.tierScope }),
    ...(tiers.length === 0 ? {} : { service_tiers: Object.fromEntries(tiers) as Record<string, string> }),
    ...(minimumCharge === 0n ? {} : { minimum_charge: presentMoney(minimumCharge) }),
  };
}

/** Whether requests choose among several rates of a unit. Then `items` has all of them. */
function hasChoice({ items, unit, billingType }: PriceTerms): boolean {
  return (
    billingType !== "token" && items.some(({ item, when }) => item === findCountedItem(unit) && when !== undefined)
  );
}

type Short = { [name in TokenPriceName | "price"]?: string };

function presentShort(price: Priced, form: Form): Short {
  const { terms, amounts } = price;
  const plain = terms.items.filter((one) => isShort(one, terms));
  if (amounts.billingType === "token") {
    const byItem = new Map(plain.map((one) => [one.item, presentRate(one, price)]));
    const named = Object.entries(tokenPriceNames) as [TokenPriceName, TokenItem][];
    return Object.fromEntries(named.flatMap(([name, item]) => (byItem.has(item) ? [[name, byItem.get(item)]] : [])));
  }
  const [one] = plain;
  if (one !== undefined && (form === "file" || !hasChoice(terms))) return { price: presentRate(one, price) };
  // The contract's field is what a unit costs at most.
  const counted = findCountedItem(terms.unit);
  return form === "file" ? {} : { price: presentNanoFraction(amounts.price * findItemPer(counted), amounts.per) };
}

function presentItem(one: PriceItem, price: Priced) {
  const { item, aboveInputTokens, when } = one;
  return {
    item: item as string,
    ...(aboveInputTokens === undefined ? {} : { above_input_tokens: aboveInputTokens }),
    ...when,
    price: presentRate(one, price),
  };
}

function presentRate({ rate }: PriceItem, { factor }: Priced): string {
  return presentNanoFraction(rate * factor.numerator, factor.denominator);
}
