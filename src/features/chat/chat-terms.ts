import { type Nano, nano } from "../../lib/money.ts";
import { hasMark, isHourMark } from "../../providers/cache-control.ts";
import { findContents } from "../../providers/chat-contents.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { NativeRequest } from "../../providers/contract.ts";
import type { CallTerms } from "../calls/index.ts";
import type { Model, Price } from "../catalog/index.ts";
import type { InputSize } from "./measure-input.ts";
import type { OutputVisibility } from "./output-visibility.ts";
import {
  boundCost,
  type CostBound,
  countAffordableTokens,
  plainKinds,
  priceOutput,
  type RequestedKinds,
} from "./quote-chat.ts";

/** The terms of a chat call. Units are output tokens, summed over all choices. */
export type ChatTerms = CallTerms &
  OutputVisibility & {
    rates: Price;
    /** The token types it can use in addition to plain ones. */
    kinds: RequestedKinds;
    /** Upper bound of the input tokens. */
    inputTokensMax: number;
    choices: number;
  };

/** The output tokens on hold at the start if neither the caller nor the catalog sets a number. */
const usualOutputTokens = 4096;

type Asked = {
  model: Pick<Model, "limits" | "usual_output_tokens">;
  rates: Price;
  kinds?: RequestedKinds;
  size: Pick<InputSize, "tokensMax">;
  /** The caller's maximum for one choice. */
  outputTokensAsked: number | null;
  choices: number;
  visibility: OutputVisibility;
  holdMs: number;
};

export function createChatTerms(asked: Asked): ChatTerms {
  return new TokenTerms(asked);
}

class TokenTerms implements ChatTerms {
  readonly priceId: string;
  readonly rates: Price;
  readonly kinds: RequestedKinds;
  readonly isFree: boolean;
  readonly inputTokensMax: number;
  readonly unitsMax: number;
  readonly unitsUsual: number;
  readonly isVisible: boolean;
  readonly isMetered: boolean;
  readonly choices: number;
  readonly holdMs: number;
  readonly quota: CallTerms["quota"];

  private readonly bounds: readonly CostBound[];

  constructor({ model, rates, kinds = plainKinds, size, outputTokensAsked, choices, visibility, holdMs }: Asked) {
    const { limits, usual_output_tokens: usual = usualOutputTokens } = model;
    const outputMax = outputTokensAsked ?? limits.max_output_tokens ?? usual;
    this.priceId = rates.id;
    this.rates = rates;
    this.kinds = kinds;
    this.isFree = rates.isFree;
    // An upstream never reads more than the context window.
    this.inputTokensMax = Math.min(size.tokensMax, limits.context_window ?? size.tokensMax);
    this.bounds = boundCost(rates, { input: this.inputTokensMax, kinds });
    this.unitsMax = outputMax * choices;
    this.unitsUsual = Math.min(outputMax, usual) * choices;
    this.isVisible = visibility.isVisible;
    this.isMetered = visibility.isMetered;
    this.choices = choices;
    this.holdMs = holdMs;
    this.quota = { kind: "text", units: BigInt(this.inputTokensMax + this.unitsMax) };
  }

  price(units: number): Nano {
    const amount = priceOutput(this.rates, this.bounds, units);
    return amount > 0n ? amount : nano(1n);
  }

  countAffordable(amount: Nano): number {
    return countAffordableTokens(this.rates, this.bounds, amount);
  }
}

/**
 * The token types with a price of their own that a request can use. Cache marks are searched only if they can cost
 * more.
 */
export function findRequestedKinds({
  request,
  native,
  size,
  rates,
}: {
  request: ChatRequest;
  /** The request as the caller sent it in another API's format, which may contain more. */
  native: NativeRequest | undefined;
  size: Pick<InputSize, "isText">;
  rates: Price;
}): RequestedKinds {
  const hourWrites = hasHourCachePrice(rates) && asksForHour(request, native);
  const audioInput = !size.isText;
  const audioOutput = request.audio !== undefined && request.audio !== null;
  return hourWrites || audioInput || audioOutput ? { hourWrites, audioInput, audioOutput } : plainKinds;
}

/** A cache write of one hour costs the operator twice the input price, so callers get it only if it has a price. */
export function hasHourCachePrice({ amounts }: Price): boolean {
  return amounts.billingType === "token" && amounts.cacheWrite1hPrice !== null;
}

/** A Messages request may have one cache mark for the whole prompt. */
function asksForHour(request: ChatRequest, native: NativeRequest | undefined): boolean {
  const whole = native?.body.cache_control;
  const isWholeMarked = typeof whole === "object" && whole !== null && isHourMark(whole as Record<string, unknown>);
  return isWholeMarked || (findContents(request) === null && hasMark(request, isHourMark));
}
