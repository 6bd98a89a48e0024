// The prices of a run, and the expected charges for the checker. Amounts are billionths of a dollar.

export const chatPrice = { inputPrice: "0.003", outputPrice: "0.015" } as const;
export const imagePrice = "0.04";
const creditDollars = 10_000;

const nanoOfDollar = 1_000_000_000n;
const inputNanoOfThousand = 3_000_000n;
const outputNanoOfThousand = 15_000_000n;

export const imageNano = 40_000_000n;
export const creditNano = BigInt(creditDollars) * nanoOfDollar;

export type TokenUsage = { inputTokens: number; outputTokens: number };

/** Both prices are per thousand tokens; the sum is rounded once, half up. */
export function computeChatNano({ inputTokens, outputTokens }: TokenUsage): bigint {
  const thousandfold = BigInt(inputTokens) * inputNanoOfThousand + BigInt(outputTokens) * outputNanoOfThousand;
  return (thousandfold + 500n) / 1000n;
}

/** Decimal text, as in the API. */
export function parseNano(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole) * nanoOfDollar + BigInt(fraction.padEnd(9, "0"));
}
