import type { Bill } from "../../lib/bill.ts";
import { countTokens } from "../../lib/token-meter.ts";
import { countInputs, type EmbeddingInput } from "../../providers/embedding.ts";
import type { Price } from "../catalog/index.ts";

/** Tokens to charge. `isCounted`: the gateway counted them, because the upstream reported none. */
export type EmbeddedUsage = { inputTokens: number; isCounted: boolean };

export type EmbeddingSize = {
  /** Upper bound: a token has at least one byte. */
  tokensMax: number;
  /** Estimate for rate limits, which are corrected once the usage is known. */
  tokensLikely: number;
};

const bytesPerToken = 4;
/** Tokens that a model may add around each input. */
const tokensAroundInput = 16;

/** Measures texts by the length of the body, so that no text is read twice. */
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

/** The gateway's own count, for upstreams that report no usage. */
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

export function billEmbedding(price: Price, { inputTokens, isCounted }: EmbeddedUsage): Bill {
  const { amounts, marks } = price;
  const quantity = BigInt(inputTokens);
  const bill = { priceId: price.id, minimum: price.minimumCharge, per: amounts.per, quotaUnits: quantity };
  if (amounts.billingType !== "token") {
    return { ...bill, items: [{ name: "calls", quantity: 1n, rate: amounts.price }, ...marks] };
  }
  const name = isCounted ? "counted_input_tokens" : "input_tokens";
  return { ...bill, items: [{ name, quantity, rate: amounts.inputPrice }, ...marks] };
}
