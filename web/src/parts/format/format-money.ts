/** As many as a part of a charge has before the whole is rounded. */
const digitsMax = 12;

/**
 * An amount as the API tells it, with its currency: all of its digits, at least as many as the currency has. The text is
 * formatted as it is and never becomes a number that could lose some.
 */
export function formatMoney(amount: string, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, maximumFractionDigits: digitsMax });
  return format.format(amount as Intl.StringNumericLiteral);
}

/**
 * The same as one would say it: the digits that the currency has, and no more than is there, because who reads of a cent
 * may want to spend it. Less than the smallest coin is not nothing.
 */
export function formatRoughMoney(amount: string, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, roundingMode: "trunc" });
  const isSome = /[1-9]/.test(amount);
  const text = format.format(amount as Intl.StringNumericLiteral);
  if (!isSome || /[1-9]/.test(text)) return text;
  const smallest = 10 ** -(format.resolvedOptions().maximumFractionDigits ?? 2);
  return `${amount.startsWith("-") ? "−" : ""}<${format.format(smallest)}`;
}

/** Tokens, calls, seconds. */
export function formatCount(count: number): string {
  return new Intl.NumberFormat("en").format(count);
}
