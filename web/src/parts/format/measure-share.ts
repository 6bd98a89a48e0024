const fractionDigitsMax = 9;

/** A share in percent, from 0 to 100. For drawing only; amounts stay strings. */
export function measureShare(part: string, whole: string): number {
  const [partUnits, wholeUnits] = [countUnits(part), countUnits(whole)];
  if (wholeUnits <= 0n) return 100;
  const percent = Number((partUnits * 100n) / wholeUnits);
  return Math.min(100, Math.max(0, percent));
}

function countUnits(amount: string): bigint {
  const [digits = "", fraction = ""] = amount.split(".");
  return BigInt(digits + fraction.padEnd(fractionDigitsMax, "0"));
}
