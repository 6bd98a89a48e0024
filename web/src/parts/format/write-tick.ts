/** A short axis label. `currency` is `null` for counts. */
export function writeTick(value: number, currency: string | null): string {
  if (currency === null) return new Intl.NumberFormat("en", { notation: "compact" }).format(value);
  const style = {
    style: "currency",
    currency,
    minimumFractionDigits: value === 0 ? 0 : 2,
    maximumFractionDigits: 9,
  } as const;
  return new Intl.NumberFormat("en", style).format(value);
}
