import { type Bill, computeCharge, hungUpMark } from "../../lib/bill.ts";
import { type Nano, nano } from "../../lib/money.ts";
import { countTokens } from "../../lib/token-meter.ts";
import { countInputs, type EmbeddingInput } from "../../providers/embedding.ts";
import type { CallTerms } from "../calls/index.ts";
import type { Price } from "../catalog/index.ts";

/** Tokens to be charged, and whether the upstream told them or we counted; and whether the caller stayed to the end. */
export type EmbeddedUsage = { inputTokens: number; isCounted: boolean; hasHungUp: boolean };

export type EmbeddingSize = {
  /** More tokens than this it cannot be: a token has at least a byte. */
  tokensMax: number;
  /** About how many it is, for limits that are corrected later. */
  tokensLikely: number;
};

const tokensPerPrice = 1000n;
const bytesPerToken = 4;
/** What models add of their own around each input. */
const tokensAroundInput = 16;

/** From the length of the body, so that no text is looked at twice. Tokens are as many as there are. */
export function measureEmbedding(
  input: EmbeddingInput,
  { bodyBytes, contextWindow }: { bodyBytes: number; contextWindow: number | undefined },
): EmbeddingSize {
  const count = countInputs(input);
  const sent = input.kind === "texts" ? bodyBytes : countListed(input.lists);
  const most = sent + count * tokensAroundInput;
  return {
    tokensMax: contextWindow === undefined ? most : Math.min(most, count * (contextWindow + tokensAroundInput)),
    tokensLikely: input.kind === "texts" ? Math.ceil(sent / bytesPerToken) : sent,
  };
}

/** Our own count, for calls whose upstream never told. */
export function countInput(input: EmbeddingInput, { tokensMax }: EmbeddingSize): number {
  if (input.kind === "tokens") return countListed(input.lists);
  let tokens = 0;
  for (const text of input.texts) tokens += countTokens(text);
  return Math.min(tokens, tokensMax);
}

function countListed(lists: readonly (readonly number[])[]): number {
  let tokens = 0;
  for (const { length } of lists) tokens += length;
  return tokens;
}

/** What so many tokens cost, at the price that held when the call began. */
export function billEmbedding(price: Price, { inputTokens, isCounted, hasHungUp }: EmbeddedUsage): Bill {
  const { amounts } = price;
  const quantity = BigInt(inputTokens);
  const mark = hasHungUp ? [hungUpMark] : [];
  const bill = { priceId: price.id, minimum: price.minimumCharge, quotaUnits: quantity };
  if (amounts.billingType !== "token") {
    return { ...bill, per: 1n, items: [{ name: "calls", quantity: 1n, rate: amounts.price }, ...mark] };
  }
  const name = isCounted ? "counted_input_tokens" : "input_tokens";
  return { ...bill, per: tokensPerPrice, items: [{ name, quantity, rate: amounts.inputPrice }, ...mark] };
}

/** The price of the most that the input can be is on hold; nothing is written that could be counted as it comes. */
export function describeTerms(price: Price, { tokensMax }: EmbeddingSize, holdMs: number): CallTerms {
  const bill = billEmbedding(price, { inputTokens: tokensMax, isCounted: false, hasHungUp: false });
  const isFree = price.minimumCharge === 0n && bill.items.every(({ rate }) => rate === 0n);
  const most = computeCharge(bill);
  // What is not free has something on hold, be it less than can be written.
  const amount = isFree || most > 0n ? most : nano(1n);
  return {
    priceId: price.id,
    isFree,
    unitsMax: 1,
    unitsUsual: 1,
    isMetered: false,
    quota: { kind: "text", units: BigInt(tokensMax) },
    holdMs,
    price: () => amount,
    countAffordable: (available: Nano) => (available >= amount ? 1 : 0),
  };
}
