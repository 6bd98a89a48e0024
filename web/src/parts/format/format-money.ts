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

/** The same for places where digits beyond the currency's own would only be in the way, such as the axis of a chart. */
export function formatRoughMoney(amount: string, currency: string): string {
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(amount as Intl.StringNumericLiteral);
}

/** Tokens, calls, seconds. */
export function formatCount(count: number): string {
  return new Intl.NumberFormat("en").format(count);
}
