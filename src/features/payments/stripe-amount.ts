import { type Nano, nano } from "../../lib/money.ts";

/** How finely people may write an amount of a currency, and in which part of it Stripe counts, both in places. */
type Places = { written: number; counted: number };

const nanoPlaces = 9;
const usual: Places = { written: 2, counted: 2 };

// What Stripe documents under "Supported currencies": currencies without a smaller unit; those that lost theirs, but
// are still counted in it; and those with three places, of which the last has to be zero.
const whole = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" ");
const wholeButCountedInHundredths = ["ISK", "UGX"];
const threePlaces = ["BHD", "JOD", "KWD", "OMR", "TND"];

function getPlaces(currency: string): Places {
  if (whole.includes(currency)) return { written: 0, counted: 0 };
  if (wholeButCountedInHundredths.includes(currency)) return { written: 0, counted: 2 };
  return threePlaces.includes(currency) ? { written: 2, counted: 3 } : usual;
}

/** How many places an amount of the currency may have. */
export function countPlaces(currency: string): number {
  return getPlaces(currency).written;
}

/** The amount as Stripe counts it, or `null` when it is finer than anybody can pay. */
export function toMinor(amount: Nano, currency: string): bigint | null {
  const { written, counted } = getPlaces(currency);
  if (amount % 10n ** BigInt(nanoPlaces - written) !== 0n) return null;
  return amount / 10n ** BigInt(nanoPlaces - counted);
}

export function fromMinor(minor: bigint, currency: string): Nano {
  return nano(minor * 10n ** BigInt(nanoPlaces - getPlaces(currency).counted));
}
