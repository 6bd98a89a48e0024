/** Decimals of a charge's parts before rounding. */
const digitsMax = 12;

/** An API amount with its currency and all digits. Formats the string directly: a number could lose digits. */
export function formatMoney(amount: string, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, maximumFractionDigits: digitsMax });
  return format.format(amount as Intl.StringNumericLiteral);
}

/**
 * Rounded down to the currency's decimals, since users may want to spend what they see. Below the smallest unit it
 * shows "<$0.01".
 */
export function formatRoughMoney(amount: string, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, roundingMode: "trunc" });
  const isSome = /[1-9]/.test(amount);
  const text = format.format(amount as Intl.StringNumericLiteral);
  if (!isSome || /[1-9]/.test(text)) return text;
  const smallest = 10 ** -(format.resolvedOptions().maximumFractionDigits ?? 2);
  return `${amount.startsWith("-") ? "−" : ""}<${format.format(smallest)}`;
}

/** Rounded up to the currency's decimals: an amount to add. */
export function formatMoneyUp(amount: string, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, roundingMode: "ceil" });
  return format.format(amount as Intl.StringNumericLiteral);
}

export function formatCount(count: number): string {
  return new Intl.NumberFormat("en").format(count);
}
