import { type Bill, computeCharge, hungUpMark, roundCharge } from "../../lib/bill.ts";
import type { Nano } from "../../lib/money.ts";
import type { ChatUsage } from "../../providers/contract.ts";
import type { Price, TokenAmounts, TokenRates } from "../catalog/index.ts";

/** Tokens to charge. `isCounted` if we counted them because the upstream did not report. */
export type ChargedUsage = ChatUsage & {
  isCounted: boolean;
  hasHungUp?: boolean;
  /** How much more the call would have cost without the cache. */
  cacheSaving?: Nano;
  /** As the upstream reported it, also kinds of tokens that are charged as plain ones. */
  reported?: ChatUsage;
};

/** Plausibility limit for a call: the longest contexts have 10 million tokens, and a vendor may run several turns. */
const tokensMax = 50_000_000;
const tokensCountable = BigInt(Number.MAX_SAFE_INTEGER);
/** Far more than any account has, and far less than the ledger can count. */
const chargeMax = 1_000_000_000_000_000_000n;

/** The bill of a call, at the price in force when it began. */
export function billChat(price: Price, usage: ChargedUsage): Bill {
  const { amounts, marks } = price;
  const bill = { priceId: price.id, minimum: price.minimumCharge, quotaUnits: sumTokens(usage) };
  const mark = usage.hasHungUp === true ? [...marks, hungUpMark] : marks;
  if (amounts.billingType !== "token") {
    return { ...bill, per: amounts.per, items: [{ name: "calls", quantity: 1n, rate: amounts.price }, ...mark] };
  }
  const kind = usage.isCounted ? "counted_" : "";
  const rates = findRates(amounts, usage);
  // The last tier has every rate that some part of the input may have.
  const shares = splitTokens(amounts.tierScope === "call" ? rates : (amounts.tiers.at(-1) ?? rates), usage);
  const { outputPrice } = rates;
  return {
    ...bill,
    per: amounts.per,
    items: [
      ...(amounts.tierScope === "call" ? listInput(rates, shares, kind) : listTieredInput(amounts, shares, kind)),
      { name: `${kind}output_tokens`, quantity: BigInt(shares.output), rate: outputPrice },
      ...itemOf("reasoning_tokens", shares.reasoning, rates.reasoningPrice ?? outputPrice),
      ...itemOf("audio_output_tokens", shares.audioOutput, rates.audioOutputPrice ?? outputPrice),
      ...amounts.fees,
      ...mark,
    ],
  };
}

function listInput(rates: TokenRates, shares: TokenShares, kind: string): Bill["items"] {
  const { inputPrice } = rates;
  return [
    { name: `${kind}input_tokens`, quantity: BigInt(shares.input), rate: inputPrice },
    { name: "cached_input_tokens", quantity: BigInt(shares.cached), rate: rates.cachedInputPrice ?? inputPrice },
    ...itemOf("cache_write_5m_tokens", shares.write5m, rates.cacheWrite5mPrice ?? inputPrice),
    ...itemOf("cache_write_1h_tokens", shares.write1h, rates.cacheWrite1hPrice ?? inputPrice),
    ...itemOf("audio_input_tokens", shares.audioInput, rates.audioInputPrice ?? inputPrice),
  ];
}

/** The input tokens in each tier, if a tier applies only to the part above its limit. Cached tokens come first. */
function listTieredInput(amounts: TokenAmounts, shares: TokenShares, kind: string): Bill["items"] {
  const rest = { ...shares };
  const order = ["cached", "write5m", "write1h", "audioInput", "input"] as const;
  return [amounts, ...amounts.tiers].flatMap((rates, index) => {
    const taken: TokenShares = { ...noTokens };
    let room = (amounts.tiers[index]?.above ?? Number.POSITIVE_INFINITY) - (amounts.tiers[index - 1]?.above ?? 0);
    for (const name of order) {
      taken[name] = Math.min(rest[name], room);
      rest[name] -= taken[name];
      room -= taken[name];
    }
    const items = listInput(rates, taken, kind);
    return index === 0 ? items : items.filter(({ quantity }) => quantity > 0n);
  });
}

/** The rates of the tier that the input is in. Parts of the input may be in others. */
function findRates(amounts: TokenAmounts, { inputTokens }: Pick<ChatUsage, "inputTokens">): TokenRates {
  if (amounts.tiers.length === 0 || amounts.tierScope === "part") return amounts;
  return amounts.tiers.findLast(({ above }) => inputTokens > above) ?? amounts;
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

const noTokens: TokenShares = {
  ...{ input: 0, cached: 0, write5m: 0, write1h: 0, audioInput: 0 },
  ...{ output: 0, reasoning: 0, audioOutput: 0 },
};

/**
 * Cached audio counts as cached, and audio in reasoning as reasoning. Audio and reasoning without a price of their own
 * count as plain input or output, as vendors do.
 */
function splitTokens(amounts: TokenRates, usage: ChatUsage): TokenShares {
  const { cachedInputTokens: cached, cacheWriteTokens, cacheWrite1hTokens: write1h } = usage;
  const uncached = usage.inputTokens - cached - cacheWriteTokens;
  const audioInput = amounts.audioInputPrice === null ? 0 : Math.min(usage.inputAudioTokens, uncached);
  const reasoning = amounts.reasoningPrice === null ? 0 : usage.reasoningTokens;
  const spoken = usage.outputTokens - reasoning;
  const audioOutput = amounts.audioOutputPrice === null ? 0 : Math.min(usage.outputAudioTokens, spoken);
  return {
    input: uncached - audioInput,
    cached,
    write5m: cacheWriteTokens - write1h,
    write1h,
    audioInput,
    output: spoken - audioOutput,
    reasoning,
    audioOutput,
  };
}

/** The total of the usage's bill. Most amounts are only compared, so no bill is built for flat rates. */
export function priceUsage(price: Price, usage: ChatUsage): Nano {
  const { amounts, minimumCharge: minimum } = price;
  if (amounts.billingType !== "token") return roundCharge(amounts.price, { per: amounts.per, minimum });
  if (!isFlat(amounts)) return computeCharge(billChat(price, { ...usage, isCounted: false }));
  const { inputPrice, outputPrice, per } = amounts;
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
  return roundCharge(total, { per, minimum });
}

function isFlat({ tiers, fees }: TokenAmounts): boolean {
  return tiers.length === 0 && fees.length === 0;
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
  const isWithin =
    cacheWrite1hTokens === usage.cacheWrite1hTokens &&
    inputAudioTokens === usage.inputAudioTokens &&
    outputAudioTokens === usage.outputAudioTokens;
  if (isWithin) return usage;
  return { ...usage, cacheWrite1hTokens, inputAudioTokens, outputAudioTokens };
}

/**
 * The most that a call can cost before it is rounded: `base`, and `output` for each output token. One for each tier that
 * its input can reach.
 */
export type CostBound = { base: bigint; output: bigint };

/** The bounds of a call with at most `input` tokens. */
export function boundCost({ amounts }: Price, { input, kinds }: { input: number; kinds: RequestedKinds }): CostBound[] {
  if (amounts.billingType !== "token") return [{ base: amounts.price, output: 0n }];
  const { tiers, fees, tierScope } = amounts;
  if (fees.length === 0 && tiers.length === 0) {
    return [{ base: BigInt(input) * findDearestInput(amounts, kinds), output: findDearestOutput(amounts, kinds) }];
  }
  const fee = fees.reduce((sum, { rate }) => sum + rate, 0n);
  const reached = [amounts, ...tiers.filter(({ above }) => above < input)];
  const bounds = reached.map((rates, index) => {
    const end = Math.min(input, tiers[index]?.above ?? input);
    const tokens = tierScope === "call" ? end : end - (tiers[index - 1]?.above ?? 0);
    return { base: BigInt(tokens) * findDearestInput(rates, kinds), output: findDearestOutput(rates, kinds) };
  });
  if (tierScope === "call") return bounds.map(({ base, output }) => ({ base: base + fee, output }));
  // Output has one rate.
  const base = bounds.reduce((sum, part) => sum + part.base, fee);
  return [{ base, output: findDearestOutput(amounts, kinds) }];
}

/** Some upstreams write to their caches without being asked. */
function findDearestInput(rates: TokenRates, { hourWrites, audioInput }: RequestedKinds): Nano {
  let input = dearer(dearer(rates.inputPrice, rates.cachedInputPrice), rates.cacheWrite5mPrice);
  if (hourWrites) input = dearer(input, rates.cacheWrite1hPrice);
  return audioInput ? dearer(input, rates.audioInputPrice) : input;
}

/** Some upstreams reason without being asked. */
function findDearestOutput(rates: TokenRates, { audioOutput }: RequestedKinds): Nano {
  const output = dearer(rates.outputPrice, rates.reasoningPrice);
  return audioOutput ? dearer(output, rates.audioOutputPrice) : output;
}

function dearer(one: Nano, other: Nano | null): Nano {
  return other !== null && other > one ? other : one;
}

/** The most that a call with this much output can cost. */
export function priceOutput(
  { amounts, minimumCharge: minimum }: Price,
  bounds: readonly CostBound[],
  output: number,
): Nano {
  const units = BigInt(output);
  let most = 0n;
  for (const bound of bounds) {
    const total = bound.base + units * bound.output;
    if (total > most) most = total;
  }
  return roundCharge(most, { per: amounts.per, minimum });
}

/** How many output tokens an amount pays for, after the input. Unlimited if output is free. */
export function countAffordableTokens({ amounts: { per } }: Price, bounds: readonly CostBound[], amount: Nano): number {
  // The part that rounding half up removes need not be covered.
  const covered = amount * per + (per + 1n) / 2n - 1n;
  let least = Number.MAX_SAFE_INTEGER;
  for (const { base, output } of bounds) {
    if (output === 0n) continue;
    const rest = covered - base;
    if (rest <= 0n) return 0;
    const count = rest / output;
    // Above this a number would be rounded, maybe up.
    if (count < tokensCountable && Number(count) < least) least = Number(count);
  }
  return least;
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

/** The usage to charge for a report. One literal, because this runs for every call: spread objects are slow to make. */
export function chargeReported(reported: ChatUsage, kinds: RequestedKinds): ChargedUsage {
  const usage = limitToRequested(reported, kinds);
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedInputTokens: usage.cachedInputTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    cacheWrite1hTokens: usage.cacheWrite1hTokens,
    reasoningTokens: usage.reasoningTokens,
    inputAudioTokens: usage.inputAudioTokens,
    outputAudioTokens: usage.outputAudioTokens,
    isCounted: false,
    reported,
  };
}

function sumTokens({ inputTokens, outputTokens }: ChatUsage): bigint {
  return BigInt(inputTokens) + BigInt(outputTokens);
}
