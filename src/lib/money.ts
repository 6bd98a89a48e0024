/** Billionths of the currency. All amounts and prices are integers in this unit. */
export type Nano = bigint & { readonly unit: "nano" };

const decimals = 9;
/** Places of a unit rate whose price is per thousand. */
const fineDecimals = 12;
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

/** Formats thousandths of a nano: a charge item before the total is rounded. */
export function presentThousandths(amount: bigint): string {
  return presentDecimal(amount, fineDecimals);
}

function presentDecimal(amount: bigint, places: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(places + 1, "0");
  const point = digits.length - places;
  let end = digits.length;
  while (end > point + placesMin && digits[end - 1] === "0") end -= 1;
  return `${amount < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point, end)}`;
}
