const digits = 9;

/** An API amount as integer nano units. */
export function toNano(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(digits, "0").slice(0, digits));
}

export function fromNano(amount: bigint): string {
  const text = amount.toString().padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/0+$/, "").replace(/\.$/, "");
}
