type TickForm = {
  /** How many digits behind the point tell the ticks apart. */
  digits: number;
  /** `null` for what is no money. */
  currency: string | null;
};

/** A number at an axis: round, short, and written as its neighbours are. */
export function writeTick(value: number, { digits, currency }: TickForm): string {
  if (currency === null) return new Intl.NumberFormat("en", { notation: "compact" }).format(value);
  // A tenth of a currency's unit is written in its hundredths.
  const places = digits === 1 ? 2 : digits;
  const style = { minimumFractionDigits: places, maximumFractionDigits: places };
  return new Intl.NumberFormat("en", { style: "currency", currency, ...style }).format(value);
}
