import { getNumberFormat } from "./get-format.ts";

/** A short axis label. `currency` is `null` for counts. */
export function writeTick(value: number, currency: string | null): string {
  if (currency === null) return getNumberFormat({ notation: "compact" }).format(value);
  const style = {
    style: "currency",
    currency,
    minimumFractionDigits: value === 0 ? 0 : 2,
    maximumFractionDigits: 9,
  } as const;
  return getNumberFormat(style).format(value);
}
