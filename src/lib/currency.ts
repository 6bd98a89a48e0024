import { type Nano, nano } from "./money.ts";

const nanoPlaces = 9;

// ISO 4217. Not from `Intl`, whose data differs between versions: documents must look the same for years.
const withoutDecimals = "BIF CLP DJF GNF ISK JPY KMF KRW MGA PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" ");
const withThreeDecimals = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/** The decimal places of amounts on paper. */
export function countCurrencyPlaces(currency: string): number {
  if (withoutDecimals.includes(currency)) return 0;
  return withThreeDecimals.includes(currency) ? 3 : 2;
}

/** The smallest amount on paper. */
export function findSmallest(currency: string): Nano {
  return nano(10n ** BigInt(nanoPlaces - countCurrencyPlaces(currency)));
}

/** Rounds half away from zero to the smallest amount of the currency. */
export function roundToCurrency(amount: Nano, currency: string): Nano {
  const smallest = findSmallest(currency);
  const size = amount < 0n ? -amount : amount;
  const rounded = ((2n * size + smallest) / (2n * smallest)) * smallest;
  return nano(amount < 0n ? -rounded : rounded);
}

/** Such as `1,234.50 USD` and `1,500 JPY`. Amounts finer than the currency keep their digits: `0.00125 USD`. */
export function presentWithCurrency(amount: Nano, currency: string): string {
  const size = amount < 0n ? -amount : amount;
  const whole = String(size / 10n ** BigInt(nanoPlaces)).replace(/\B(?=(\d{3})+$)/g, ",");
  const places = countCurrencyPlaces(currency);
  const digits = String(size % 10n ** BigInt(nanoPlaces))
    .padStart(nanoPlaces, "0")
    .replace(/0+$/, "")
    .padEnd(places, "0");
  return `${amount < 0n ? "-" : ""}${whole}${digits === "" ? "" : `.${digits}`} ${currency}`;
}
