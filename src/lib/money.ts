/** Billionths of the currency. All amounts and prices are integers in this unit. */
export type Nano = bigint & { readonly unit: "nano" };

const decimals = 9;
/** Denominators are powers of ten times the denominators of factors with four places. */
const fractionPlacesMax = 20;
const placesMin = 2;
/** Nine integer digits keep sums of many amounts within 64 bits. */
const decimalPattern = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

export function nano(value: bigint): Nano {
  return value as Nano;
}

/** Parses a decimal such as `12.50`; `null` if invalid or finer than a billionth. */
export function parseMoney(text: string): Nano | null {
  const [, whole, fraction = ""] = decimalPattern.exec(text) ?? [];
  return whole === undefined ? null : nano(BigInt(whole + fraction.padEnd(decimals, "0")));
}

/** The wire format: no exponent, at least two places, no further trailing zeros. */
export function presentMoney(amount: Nano): string {
  return presentDecimal(amount, decimals);
}

/** Formats a fraction of a nano with every digit, such as a rate or an item of a charge before the total is rounded. */
export function presentNanoFraction(numerator: bigint, denominator: bigint): string {
  let places = 0;
  let digits = numerator;
  while (digits % denominator !== 0n && places < fractionPlacesMax) {
    digits *= 10n;
    places += 1;
  }
  return presentDecimal(digits / denominator, decimals + places);
}

function presentDecimal(amount: bigint, places: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(places + 1, "0");
  const point = digits.length - places;
  let end = digits.length;
  while (end > point + placesMin && digits[end - 1] === "0") end -= 1;
  return `${amount < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point, end)}`;
}
