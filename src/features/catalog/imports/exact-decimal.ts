import { nano, presentMoney } from "../../../lib/money.ts";

/** An exact decimal: its digits as an integer, and how many of them are places. */
export type Decimal = { digits: bigint; places: number };

const pattern = /^(\d{1,30})(?:\.(\d{1,30}))?(?:e([+-]?\d{1,2}))?$/i;

/** Parses `0.00015` or `1.5e-04`; `null` if it is not a decimal of 0 or more. */
export function parseDecimal(text: unknown): Decimal | null {
  const [, whole, fraction = "", exponent = "0"] = (typeof text === "string" ? pattern.exec(text) : null) ?? [];
  return whole === undefined ? null : scale({ digits: BigInt(whole + fraction), places: fraction.length }, +exponent);
}

/** Moves the point: ten to this power times as much. */
export function scale({ digits, places }: Decimal, power: number): Decimal {
  const left = places - power;
  return left >= 0 ? { digits, places: left } : { digits: digits * 10n ** BigInt(-left), places: 0 };
}

export function multiply(one: Decimal, other: Decimal): Decimal {
  return { digits: one.digits * other.digits, places: one.places + other.places };
}

export function isZero({ digits }: Decimal): boolean {
  return digits === 0n;
}

export function compareDecimals(one: Decimal, other: Decimal): number {
  const places = Math.max(one.places, other.places);
  const [left, right] = [one, other].map((each) => each.digits * 10n ** BigInt(places - each.places));
  return left === right ? 0 : (left ?? 0n) < (right ?? 0n) ? -1 : 1;
}

const pricePlaces = 9;

/** The amount for a catalog: nine places at most, rounded up so that it is never below the vendor's. */
export function presentExactPrice({ digits, places }: Decimal): string {
  if (places <= pricePlaces) return presentMoney(nano(digits * 10n ** BigInt(pricePlaces - places)));
  const divisor = 10n ** BigInt(places - pricePlaces);
  return presentMoney(nano((digits + divisor - 1n) / divisor));
}
