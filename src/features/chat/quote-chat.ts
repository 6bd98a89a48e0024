import { type Bill, hungUpMark, roundCharge } from "../../lib/bill.ts";
import type { Nano } from "../../lib/money.ts";
import type { ChatUsage } from "../../providers/contract.ts";
import type { Price, TokenAmounts } from "../catalog/index.ts";

/** Tokens to charge. `isCounted` if we counted them because the upstream did not report. */
export type ChargedUsage = ChatUsage & {
  isCounted: boolean;
  hasHungUp?: boolean;
  /** How much more the call would have cost without the cache. */
  cacheSaving?: Nano;
};

const tokensPerPrice = 1000n;
/** Charges are rounded half up. */
const roundedAway = tokensPerPrice / 2n - 1n;
/** Plausibility limit for a call: the longest contexts have 10 million tokens, and a vendor may run several turns. */
const tokensMax = 50_000_000;
const tokensCountable = BigInt(Number.MAX_SAFE_INTEGER);
/** Far more than any account has, and far less than the ledger can count. */
const chargeMax = 1_000_000_000_000_000_000n;

/** The bill of a call, at the price in force when it began. */
export function billChat(price: Price, usage: ChargedUsage): Bill {
  const { amounts } = price;
  const bill = { priceId: price.id, minimum: price.minimumCharge, quotaUnits: sumTokens(usage) };
  const mark = usage.hasHungUp === true ? [hungUpMark] : [];
  if (amounts.billingType !== "token") {
    return { ...bill, per: 1n, items: [{ name: "calls", quantity: 1n, rate: amounts.price }, ...mark] };
  }
  const kind = usage.isCounted ? "counted_" : "";
  const { inputPrice, outputPrice } = amounts;
  const shares = splitTokens(amounts, usage);
  return {
    ...bill,
    per: tokensPerPrice,
    items: [
      { name: `${kind}input_tokens`, quantity: BigInt(shares.input), rate: inputPrice },
      { name: "cached_input_tokens", quantity: BigInt(shares.cached), rate: amounts.cachedInputPrice ?? inputPrice },
      ...itemOf("cache_write_5m_tokens", shares.write5m, amounts.cacheWrite5mPrice ?? inputPrice),
      ...itemOf("cache_write_1h_tokens", shares.write1h, amounts.cacheWrite1hPrice ?? inputPrice),
      ...itemOf("audio_input_tokens", shares.audioInput, amounts.audioInputPrice ?? inputPrice),
      { name: `${kind}output_tokens`, quantity: BigInt(shares.output), rate: outputPrice },
      ...itemOf("reasoning_tokens", shares.reasoning, amounts.reasoningPrice ?? outputPrice),
      ...itemOf("audio_output_tokens", shares.audioOutput, amounts.audioOutputPrice ?? outputPrice),
      ...mark,
    ],
  };
}

/** Most calls have none of these, so their bills have no such line. */
function itemOf(name: string, tokens: number, rate: Nano): Bill["items"] {
  return tokens === 0 ? noItems : [{ name, quantity: BigInt(tokens), rate }];
}

const noItems: Bill["items"] = [];

/** Tokens by price: each is in exactly one share. */
type TokenShares = {
  input: number;
  cached: number;
  write5m: number;
  write1h: number;
  audioInput: number;
  output: number;
  reasoning: number;
  audioOutput: number;
};

/**
 * Cached audio counts as cached, and audio in reasoning as reasoning. Audio and reasoning without a price of their own
 * count as plain input or output, as vendors do.
 */
function splitTokens(amounts: TokenAmounts, usage: ChatUsage): TokenShares {
  const { cachedInputTokens: cached, cacheWriteTokens, cacheWrite1hTokens: write1h } = usage;
  const uncached = usage.inputTokens - cached - cacheWriteTokens;
  const audioInput = amounts.audioInputPrice === null ? 0 : Math.min(usage.inputAudioTokens, uncached);
  const reasoning = amounts.reasoningPrice === null ? 0 : usage.reasoningTokens;
  const spoken = usage.outputTokens - reasoning;
  const audioOutput = amounts.audioOutputPrice === null ? 0 : Math.min(usage.outputAudioTokens, spoken);
  return {
    input: uncached - audioInput,
    ...{ cached, write5m: cacheWriteTokens - write1h, write1h, audioInput },
    output: spoken - audioOutput,
    ...{ reasoning, audioOutput },
  };
}

/** The total of the usage's bill. Most amounts are only compared, so no bill is built. */
export function priceUsage({ amounts, minimumCharge: minimum }: Price, usage: ChatUsage): Nano {
  if (amounts.billingType !== "token") return roundCharge(amounts.price, { per: 1n, minimum });
  const { inputPrice, outputPrice } = amounts;
  const shares = splitTokens(amounts, usage);
  const total =
    BigInt(shares.input) * inputPrice +
    BigInt(shares.cached) * (amounts.cachedInputPrice ?? inputPrice) +
    BigInt(shares.write5m) * (amounts.cacheWrite5mPrice ?? inputPrice) +
    BigInt(shares.write1h) * (amounts.cacheWrite1hPrice ?? inputPrice) +
    BigInt(shares.audioInput) * (amounts.audioInputPrice ?? inputPrice) +
    BigInt(shares.output) * outputPrice +
    BigInt(shares.reasoning) * (amounts.reasoningPrice ?? outputPrice) +
    BigInt(shares.audioOutput) * (amounts.audioOutputPrice ?? outputPrice);
  return roundCharge(total, { per: tokensPerPrice, minimum });
}

/** Token types that a request may use in addition to plain ones. */
export type RequestedKinds = {
  /** It asks for a cache lifetime of one hour. */
  hourWrites: boolean;
  audioInput: boolean;
  audioOutput: boolean;
};

export const plainKinds: RequestedKinds = { hourWrites: false, audioInput: false, audioOutput: false };

/** Charges token types that were not requested as plain ones, so that no report makes a call cost more than its hold. */
export function limitToRequested(usage: ChatUsage, kinds: RequestedKinds): ChatUsage {
  const cacheWrite1hTokens = kinds.hourWrites ? usage.cacheWrite1hTokens : 0;
  const inputAudioTokens = kinds.audioInput ? usage.inputAudioTokens : 0;
  const outputAudioTokens = kinds.audioOutput ? usage.outputAudioTokens : 0;
  return { ...usage, cacheWrite1hTokens, inputAudioTokens, outputAudioTokens };
}

/** The highest price of an input token and of an output token. */
export type DearestRates = { input: Nano; output: Nano };

export function findDearestRates({ amounts }: Price, kinds: RequestedKinds): DearestRates {
  if (amounts.billingType !== "token") return { input: amounts.price, output: amounts.price };
  const { hourWrites, audioInput, audioOutput } = kinds;
  // Some upstreams write to their caches and reason without being asked.
  let input = dearer(dearer(amounts.inputPrice, amounts.cachedInputPrice), amounts.cacheWrite5mPrice);
  if (hourWrites) input = dearer(input, amounts.cacheWrite1hPrice);
  if (audioInput) input = dearer(input, amounts.audioInputPrice);
  let output = dearer(amounts.outputPrice, amounts.reasoningPrice);
  if (audioOutput) output = dearer(output, amounts.audioOutputPrice);
  return { input, output };
}

function dearer(one: Nano, other: Nano | null): Nano {
  return other !== null && other > one ? other : one;
}

/** The most that a call with this much input and output can cost. */
export function priceTokens(
  price: Price,
  { input, output }: { input: number; output: number },
  dearest: DearestRates = findDearestRates(price, plainKinds),
): Nano {
  const { amounts, minimumCharge: minimum } = price;
  if (amounts.billingType !== "token") return roundCharge(amounts.price, { per: 1n, minimum });
  const total = BigInt(input) * dearest.input + BigInt(output) * dearest.output;
  return roundCharge(total, { per: tokensPerPrice, minimum });
}

/** How many output tokens an amount pays for, after the input. Unlimited if output is free. */
export function countAffordableTokens(
  price: Price,
  amount: Nano,
  input: number,
  dearest: DearestRates = findDearestRates(price, plainKinds),
): number {
  if (price.amounts.billingType !== "token" || dearest.output === 0n) return Number.MAX_SAFE_INTEGER;
  // The part that rounding removes need not be covered.
  const rest = amount * tokensPerPrice + roundedAway - BigInt(input) * dearest.input;
  if (rest <= 0n) return 0;
  const count = rest / dearest.output;
  // Above this a number would be rounded, maybe up.
  return count > tokensCountable ? Number.MAX_SAFE_INTEGER : Number(count);
}

/** Plausibility check: no share exceeds its total. */
export function isPlausible(usage: ChatUsage): boolean {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return (
    isCount(inputTokens) &&
    isCount(outputTokens) &&
    isCount(cachedInputTokens) &&
    isCount(cacheWriteTokens) &&
    isCount(usage.cacheWrite1hTokens) &&
    isCount(usage.reasoningTokens) &&
    isCount(usage.inputAudioTokens) &&
    isCount(usage.outputAudioTokens) &&
    cachedInputTokens + cacheWriteTokens <= inputTokens &&
    usage.cacheWrite1hTokens <= cacheWriteTokens &&
    usage.reasoningTokens <= outputTokens &&
    inputTokens + outputTokens <= tokensMax
  );
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= tokensMax;
}

/** Whether the usage is plausible and its charge within bounds. */
export function isChargeable(price: Price, usage: ChatUsage): boolean {
  return isPlausible(usage) && priceUsage(price, usage) <= chargeMax;
}

export function isFree(price: Price): boolean {
  if (price.minimumCharge > 0n) return false;
  const { input, output } = findDearestRates(price, { hourWrites: true, audioInput: true, audioOutput: true });
  return input === 0n && output === 0n;
}

export function createUsage(inputTokens: number, outputTokens: number): ChargedUsage {
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
    isCounted: true,
  };
}

function sumTokens({ inputTokens, outputTokens }: ChatUsage): bigint {
  return BigInt(inputTokens) + BigInt(outputTokens);
}
