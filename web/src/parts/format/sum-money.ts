/** Items of a charge have their rate times its factors, not rounded. */
const places = 24;

/** The exact sum of API amounts, in integers. */
export function sumMoney(amounts: readonly string[]): string {
  const total = amounts.reduce((sum, amount) => sum + parseAmount(amount), 0n);
  const digits = (total < 0n ? -total : total).toString().padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0{1,22}$/, "");
  return `${total < 0n ? "-" : ""}${digits.slice(0, -places)}.${fraction}`;
}

export function isMoneyZero(amount: string): boolean {
  return parseAmount(amount) === 0n;
}

/** Negative, positive, or 0 if equal. */
export function compareMoney(a: string, b: string): number {
  const difference = parseAmount(a) - parseAmount(b);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

function parseAmount(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(`${whole}${fraction.padEnd(places, "0").slice(0, places)}`);
}
