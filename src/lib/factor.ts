/** A factor of prices: a fraction in lowest terms, so that nothing is rounded before the charge. */
export type Factor = { readonly numerator: bigint; readonly denominator: bigint };

export const noFactor: Factor = { numerator: 1n, denominator: 1n };

const places = 4;
const factorPattern = /^(\d{1,3})(?:\.(\d{1,4}))?$/;

/** Parses a decimal below 1000 with at most four places, such as `0.85`; `null` if it is none. */
export function parseFactor(text: string): Factor | null {
  const [, whole, fraction = ""] = factorPattern.exec(text) ?? [];
  return whole === undefined ? null : reduce(BigInt(whole + fraction.padEnd(places, "0")), 10n ** BigInt(places));
}

export function multiplyFactors(one: Factor, other: Factor): Factor {
  return reduce(one.numerator * other.numerator, one.denominator * other.denominator);
}

/** The decimal without trailing zeros. */
export function presentFactor({ numerator, denominator }: Factor): string {
  const scale = 10n ** BigInt(places);
  const digits = ((numerator * scale) / denominator).toString().padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "");
}

function reduce(numerator: bigint, denominator: bigint): Factor {
  const divisor = findCommonDivisor(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

export function findCommonMultiple(one: bigint, other: bigint): bigint {
  return (one / findCommonDivisor(one, other)) * other;
}

function findCommonDivisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : findCommonDivisor(other, one % other);
}
