/** Decimals of a charge's parts before rounding. */
const digitsMax = 12;

/** An API amount with its currency and all digits. Formats the string directly: a number could lose digits. */
export function formatMoney(amount: string, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, maximumFractionDigits: digitsMax });
  return format.format(amount as Intl.StringNumericLiteral);
}

/**
 * Rounded down, since users may want to spend what they see: to the currency's decimals, and below one unit to two to
 * four significant digits.
 */
export function formatRoughMoney(amount: string, currency: string): string {
  const isBelowOne = /^-?0*\./.test(amount) && /[1-9]/.test(amount);
  const digits = { minimumSignificantDigits: 2, maximumSignificantDigits: 4 };
  const precision = { ...digits, roundingPriority: "morePrecision" } as const;
  const style = { style: "currency", currency, roundingMode: "trunc", ...(isBelowOne ? precision : {}) } as const;
  return new Intl.NumberFormat("en", style).format(amount as Intl.StringNumericLiteral);
}

/** Rounded up to the currency's decimals: an amount to add. */
export function formatMoneyUp(amount: string, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, roundingMode: "ceil" });
  return format.format(amount as Intl.StringNumericLiteral);
}

export function formatCount(count: number): string {
  return new Intl.NumberFormat("en").format(count);
}
