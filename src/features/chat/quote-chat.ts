import { type Bill, hungUpMark, roundCharge } from "../../lib/bill.ts";
import type { Nano } from "../../lib/money.ts";
import type { ChatUsage } from "../../providers/contract.ts";
import type { Price } from "../catalog/index.ts";

/** Tokens to be charged, and whether the upstream told them or we counted; and whether the caller stayed to the end. */
export type ChargedUsage = ChatUsage & { isCounted: boolean; hasHungUp?: boolean };

const tokensPerPrice = 1000n;
/** Charges are rounded half up. */
const roundedAway = tokensPerPrice / 2n - 1n;
const tokensMax = 1_000_000_000;
const tokensCountable = BigInt(Number.MAX_SAFE_INTEGER);
/** Far more than any account has, and far less than the ledger can count. */
const chargeMax = 1_000_000_000_000_000_000n;

/** What a call with this usage costs, at the price that held when it began. */
export function billChat(price: Price, usage: ChargedUsage): Bill {
  const { amounts } = price;
  const bill = { priceId: price.id, minimum: price.minimumCharge, quotaUnits: sumTokens(usage) };
  const mark = usage.hasHungUp === true ? [hungUpMark] : [];
  if (amounts.billingType !== "token") {
    return { ...bill, per: 1n, items: [{ name: "calls", quantity: 1n, rate: amounts.price }, ...mark] };
  }
  const kind = usage.isCounted ? "counted_" : "";
  const cached = BigInt(usage.cachedInputTokens);
  return {
    ...bill,
    per: tokensPerPrice,
    items: [
      { name: `${kind}input_tokens`, quantity: BigInt(usage.inputTokens) - cached, rate: amounts.inputPrice },
      { name: "cached_input_tokens", quantity: cached, rate: amounts.cachedInputPrice ?? amounts.inputPrice },
      { name: `${kind}output_tokens`, quantity: BigInt(usage.outputTokens), rate: amounts.outputPrice },
      ...mark,
    ],
  };
}

/** The most that a call can cost that has this much input and output. */
export function priceTokens(price: Price, { input, output }: { input: number; output: number }): Nano {
  return priceUsage(price, { inputTokens: input, outputTokens: output, cachedInputTokens: 0 });
}

type PricedUsage = Pick<ChatUsage, "inputTokens" | "outputTokens" | "cachedInputTokens">;

/** What the bill of a usage comes to. Most amounts are only compared, and need no bill to be written. */
export function priceUsage({ amounts, minimumCharge: minimum }: Price, usage: PricedUsage): Nano {
  if (amounts.billingType !== "token") return roundCharge(amounts.price, { per: 1n, minimum });
  const cached = BigInt(usage.cachedInputTokens);
  const total =
    (BigInt(usage.inputTokens) - cached) * amounts.inputPrice +
    cached * (amounts.cachedInputPrice ?? amounts.inputPrice) +
    BigInt(usage.outputTokens) * amounts.outputPrice;
  return roundCharge(total, { per: tokensPerPrice, minimum });
}

/** How many tokens of output an amount pays for, after the input; as many as there are where output costs nothing. */
export function countAffordableTokens(price: Price, amount: Nano, input: number): number {
  const { amounts } = price;
  if (amounts.billingType !== "token" || amounts.outputPrice === 0n) return Number.MAX_SAFE_INTEGER;
  // What is rounded away need not be there.
  const rest = amount * tokensPerPrice + roundedAway - BigInt(input) * amounts.inputPrice;
  if (rest <= 0n) return 0;
  const count = rest / amounts.outputPrice;
  // Beyond this a number would be rounded, maybe up.
  return count > tokensCountable ? Number.MAX_SAFE_INTEGER : Number(count);
}

/** Whether the numbers can be a count of tokens. */
export function isPlausible(usage: ChatUsage): boolean {
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  return (
    isCount(inputTokens) &&
    isCount(outputTokens) &&
    isCount(cachedInputTokens) &&
    isCount(usage.cacheWriteTokens) &&
    isCount(usage.reasoningTokens) &&
    isCount(usage.inputAudioTokens) &&
    isCount(usage.outputAudioTokens) &&
    cachedInputTokens <= inputTokens &&
    inputTokens + outputTokens <= tokensMax
  );
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= tokensMax;
}

/** Whether the numbers can be counted and paid. */
export function isChargeable(price: Price, usage: ChatUsage): boolean {
  return isPlausible(usage) && priceUsage(price, usage) <= chargeMax;
}

export function isFree({ amounts, minimumCharge }: Price): boolean {
  if (minimumCharge > 0n) return false;
  return amounts.billingType === "token"
    ? amounts.inputPrice === 0n && amounts.outputPrice === 0n && (amounts.cachedInputPrice ?? 0n) === 0n
    : amounts.price === 0n;
}

export function createUsage(inputTokens: number, outputTokens: number): ChargedUsage {
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
    isCounted: true,
  };
}

function sumTokens({ inputTokens, outputTokens }: ChatUsage): bigint {
  return BigInt(inputTokens) + BigInt(outputTokens);
}
