import { getNumberFormat } from "./get-format.ts";

/** Decimals of a charge's parts before rounding. */
const digitsMax = 24;

/** Formats the string directly: a number could lose digits. */
function write(amount: string, currency: string, options: Intl.NumberFormatOptions): string {
  const format = getNumberFormat({ style: "currency", currency, ...options });
  return format.format(amount as Intl.StringNumericLiteral);
}

/** An API amount with its currency and all digits. */
export function formatMoney(amount: string, currency: string): string {
  return write(amount, currency, { maximumFractionDigits: digitsMax });
}

const rounded = { roundingMode: "trunc" } as const;
const roundedBelowOne = {
  ...rounded,
  minimumSignificantDigits: 2,
  maximumSignificantDigits: 4,
  roundingPriority: "morePrecision",
} as const;

/**
 * Rounded down, since users may want to spend what they see: to the currency's decimals, and below one unit to four
 * significant digits. Never longer than the exact amount.
 */
export function formatRoughMoney(amount: string, currency: string): string {
  const isBelowOne = /^-?0*\./.test(amount) && /[1-9]/.test(amount);
  const [rough, exact] = [
    write(amount, currency, isBelowOne ? roundedBelowOne : rounded),
    formatMoney(amount, currency),
  ];
  return rough.length < exact.length ? rough : exact;
}

/** Rounded up to the currency's decimals: an amount to add. */
export function formatMoneyUp(amount: string, currency: string): string {
  return write(amount, currency, { roundingMode: "ceil" });
}

export function formatCount(count: number): string {
  return getNumberFormat().format(count);
}
