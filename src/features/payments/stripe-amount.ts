import { countCurrencyPlaces } from "../../lib/currency.ts";
import { type Nano, nano } from "../../lib/money.ts";

/** Decimal places that a customer may enter, and decimal places of the unit that Stripe counts in. */
type Places = { written: number; counted: number };

const nanoPlaces = 9;
const usual: Places = { written: 2, counted: 2 };

// From Stripe's "Supported currencies": zero-decimal currencies; zero-decimal ones that Stripe still counts in
// hundredths; and three-decimal currencies, whose last digit must be zero.
const whole = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" ");
const wholeButCountedInHundredths = ["ISK", "UGX"];
const threePlaces = ["BHD", "JOD", "KWD", "OMR", "TND"];

function getPlaces(currency: string): Places {
  if (whole.includes(currency)) return { written: 0, counted: 0 };
  if (wholeButCountedInHundredths.includes(currency)) return { written: 0, counted: 2 };
  return threePlaces.includes(currency) ? { written: 2, counted: 3 } : usual;
}

export function countPlaces(currency: string): number {
  return getPlaces(currency).written;
}

/**
 * The amount in the unit that Stripe counts in, or `null` if it has too many decimal places. Other providers may use every
 * place of the currency: Stripe wants the last one of three to be zero.
 */
export function toMinor(amount: Nano, currency: string, channel: "stripe" | "external" = "stripe"): bigint | null {
  const { written, counted } = getPlaces(currency);
  const places = channel === "stripe" ? written : Math.min(counted, countCurrencyPlaces(currency));
  if (amount % 10n ** BigInt(nanoPlaces - places) !== 0n) return null;
  return amount / 10n ** BigInt(nanoPlaces - counted);
}

export function fromMinor(minor: bigint, currency: string): Nano {
  return nano(minor * 10n ** BigInt(nanoPlaces - getPlaces(currency).counted));
}
