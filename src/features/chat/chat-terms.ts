import { type Nano, nano } from "../../lib/money.ts";
import type { CallTerms } from "../calls/index.ts";
import type { Model, Price } from "../catalog/index.ts";
import type { InputSize } from "./measure-input.ts";
import type { OutputVisibility } from "./output-visibility.ts";
import {
  type AskedKinds,
  countAffordableTokens,
  type DearestRates,
  findDearestRates,
  isFree,
  plainKinds,
  priceTokens,
} from "./quote-chat.ts";

/** How a chat call is paid for: its units are the tokens of all choices together. */
export type ChatTerms = CallTerms &
  OutputVisibility & {
    rates: Price;
    /** What it can be charged for beside plain tokens. */
    kinds: AskedKinds;
    /** More tokens of input than this it cannot have. */
    inputTokensMax: number;
    choices: number;
  };

/** As much output is on hold from the start where neither caller nor catalog says otherwise. */
const usualOutputTokens = 4096;

type Asked = {
  model: Pick<Model, "limits" | "usual_output_tokens">;
  rates: Price;
  kinds?: AskedKinds;
  size: Pick<InputSize, "tokensMax">;
  /** The most tokens of a choice that the caller asked for. */
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
  readonly kinds: AskedKinds;
  readonly isFree: boolean;
  readonly inputTokensMax: number;
  readonly unitsMax: number;
  readonly unitsUsual: number;
  readonly isVisible: boolean;
  readonly isMetered: boolean;
  readonly choices: number;
  readonly holdMs: number;
  readonly quota: CallTerms["quota"];

  private readonly dearest: DearestRates;

  constructor({ model, rates, kinds = plainKinds, size, outputTokensAsked, choices, visibility, holdMs }: Asked) {
    const { limits, usual_output_tokens: usual = usualOutputTokens } = model;
    const outputMax = outputTokensAsked ?? limits.max_output_tokens ?? usual;
    this.priceId = rates.id;
    this.rates = rates;
    this.kinds = kinds;
    this.dearest = findDearestRates(rates, kinds);
    this.isFree = isFree(rates);
    // No upstream reads more than fits.
    this.inputTokensMax = Math.min(size.tokensMax, limits.context_window ?? size.tokensMax);
    this.unitsMax = outputMax * choices;
    this.unitsUsual = Math.min(outputMax, usual) * choices;
    this.isVisible = visibility.isVisible;
    this.isMetered = visibility.isMetered;
    this.choices = choices;
    this.holdMs = holdMs;
    this.quota = { kind: "text", units: BigInt(this.inputTokensMax + this.unitsMax) };
  }

  price(units: number): Nano {
    const amount = priceTokens(this.rates, { input: this.inputTokensMax, output: units }, this.dearest);
    return amount > 0n ? amount : nano(1n);
  }

  countAffordable(amount: Nano): number {
    return countAffordableTokens(this.rates, amount, this.inputTokensMax, this.dearest);
  }
}
