import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { HoldId, IdSource } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { ChatUsage } from "../../providers/contract.ts";
import type { Price } from "../catalog/index.ts";
import {
  type ExtendOperation,
  explainRefusedHold,
  type HoldOperation,
  type Ledger,
  type ReleaseOperation,
  type ResultOf,
  type SettleOperation,
} from "../ledger/index.ts";
import type { OutputVisibility } from "./output-visibility.ts";
import type { PendingHolds } from "./pending-holds.ts";
import {
  billChat,
  type ChargedUsage,
  countAffordableTokens,
  createUsage,
  isChargeable,
  isFree,
  isPlausible,
  nothing,
  priceTokens,
} from "./quote-chat.ts";

/** How a call will be paid for. */
export type ChatTerms = OutputVisibility & {
  price: Price;
  /** More tokens of input than this it cannot have. */
  inputTokensMax: number;
  /** The most output of all choices together that the caller asked for or the model gives. */
  outputTokensMax: number;
  /** As much output has to be on hold before anything is known. */
  outputTokensUsual: number;
  choices: number;
  holdMs: number;
};

export type Settlement = { charge: Nano; lost: Nano };

/** Where a settlement is written: by itself, or together with something that must not happen without it. */
type SettleOrRelease = (operation: SettleOperation | ReleaseOperation) => Promise<LedgerEnd>;
type LedgerEnd = ResultOf<SettleOperation | ReleaseOperation>;

/** The money of one call, from the hold to its end. */
export type ChatPayment = {
  holdId: HoldId | null;
  /**
   * Whether so much money is there, by what is known, that the call need not wait for its hold. Otherwise the hold comes
   * first.
   */
  canAuthorizeOptimistically(): boolean;
  /**
   * Sets the money aside, or throws the error that says what is missing. Without all that the call can cost known to be
   * there, as much of it as there is.
   */
  open(): Promise<void>;
  /** Whether a bill can be made of what an upstream reported: it may report anything. */
  canCharge(usage: ChatUsage): boolean;
  /** How many tokens of output, of all choices together, an upstream may be told to write. */
  countPayable(): number;
  /** How many tokens of output are on hold at the moment. */
  covered(): number;
  /** All that is on hold, as usage: for calls of which nobody will ever tell what they used. */
  describeHeldUsage(): ChargedUsage;
  /** Sets more aside for this many tokens in all, or for as many as there is money. */
  extend(outputTokens: number): Promise<void>;
  /** Charges what was used, or nothing when `usage` is `null`, and gives the rest back. */
  settle(usage: ChargedUsage | null, write?: SettleOrRelease): Promise<Settlement>;
};

type PaymentParts = { ledger: Ledger; clock: Clock; ids: IdSource; currency: string; pending: PendingHolds };

/**
 * Calls that begin before their holds are written may together cost this part of what an account is known to have. The
 * rest is for what this gateway has not heard yet of others.
 */
const optimisticShare = 4n;

export function createChatPayment(
  parts: PaymentParts,
  terms: ChatTerms,
  { caller, requestId }: { caller: Caller; requestId: string },
): ChatPayment {
  return isFree(terms.price) ? createFreePayment(terms) : new PaidChat(parts, terms, caller, requestId);
}

/** A class, unlike most things here: there is one for each call, and functions of its own would be its greatest part. */
class PaidChat implements ChatPayment {
  readonly holdId: HoldId;
  private readonly parts: PaymentParts;
  private readonly terms: ChatTerms;
  private readonly caller: Caller;
  private readonly requestId: string;
  private held: Nano;
  private coveredTokens: number;
  private pendingAmount: Nano = nothing;
  private state: "unopened" | "opening" | "open" | "not-open" = "unopened";

  constructor(parts: PaymentParts, terms: ChatTerms, caller: Caller, requestId: string) {
    this.holdId = parts.ids.next("hold");
    this.parts = parts;
    this.terms = terms;
    this.caller = caller;
    this.requestId = requestId;
    this.held = priceHold(terms, terms.outputTokensUsual);
    this.coveredTokens = terms.outputTokensUsual;
  }

  canAuthorizeOptimistically(): boolean {
    const { terms, caller, parts } = this;
    const spendable = this.estimateSpendable();
    const most = priceHold(terms, terms.outputTokensMax);
    if (spendable === null || (parts.pending.sum(caller.accountId) + most) * optimisticShare > spendable) return false;
    if (!terms.isMetered) {
      this.held = most;
      this.coveredTokens = terms.outputTokensMax;
    }
    this.pendingAmount = most;
    parts.pending.add(caller.accountId, most);
    return true;
  }

  open(): Promise<void> {
    this.state = "opening";
    return this.parts.ledger.apply(this.describeHold()).then(
      (result) => this.takeHold(result),
      (error: unknown) => {
        this.state = "not-open";
        this.forgetPending();
        throw error;
      },
    );
  }

  canCharge(usage: ChatUsage): boolean {
    return isWithinReason(this.terms, usage) && isChargeable(this.terms.price, usage);
  }

  countPayable(): number {
    const { terms, held, coveredTokens } = this;
    if (coveredTokens >= terms.outputTokensMax) return terms.outputTokensMax;
    // Nobody could stop it where the hold ends.
    if (!terms.isMetered) return coveredTokens;
    const spendable = this.estimateSpendable() ?? nothing;
    const payable = countAffordableTokens(terms.price, nano(held + spendable), terms.inputTokensMax);
    return Math.min(Math.max(payable, coveredTokens), terms.outputTokensMax);
  }

  covered(): number {
    return this.coveredTokens;
  }

  describeHeldUsage(): ChargedUsage {
    return createUsage(this.terms.inputTokensMax, this.coveredTokens);
  }

  async extend(outputTokens: number): Promise<void> {
    const { terms } = this;
    const wanted = priceHold(terms, outputTokens);
    const result = await this.raise(wanted);
    if (result.kind === "extended") {
      this.held = wanted;
      this.coveredTokens = outputTokens;
      return;
    }
    if (result.kind !== "refused") return;
    // What is there is better than nothing; if it goes in the same moment, the answer ends where the hold does.
    const less = nano(wanted - result.missing);
    const payable = countAffordableTokens(terms.price, less, terms.inputTokensMax);
    if (payable <= this.coveredTokens || (await this.raise(less)).kind !== "extended") return;
    this.held = less;
    this.coveredTokens = payable;
  }

  settle(usage: ChargedUsage | null, write: SettleOrRelease = this.parts.ledger.apply): Promise<Settlement> {
    // One that was refused holds nothing; one of which nobody knows whether it was written ends by itself.
    if (this.state !== "opening" && this.state !== "open") return Promise.resolve(noSettlement);
    const { holdId } = this;
    const { accountId, budget } = this.caller;
    if (usage === null) return write({ kind: "release", accountId, holdId }).then(() => noSettlement);
    const bill = billChat(this.terms.price, usage);
    const budgetAmount = budget?.amount ?? null;
    return write({ kind: "settle", accountId, holdId, bill, overrun: "take-available", budgetAmount }).then(
      (result) => {
        if (result.kind !== "settled") throw new Error(`the hold ${holdId} could not be settled: ${result.kind}`);
        return result.unit === "money" ? { charge: nano(result.paid), lost: nano(result.lost) } : noSettlement;
      },
    );
  }

  private describeHold(): HoldOperation {
    const { terms, caller } = this;
    return {
      kind: "hold",
      id: this.holdId,
      accountId: caller.accountId,
      amount: this.held,
      quota: { kind: "text", units: countQuotaUnits(terms) },
      keyId: caller.keyId,
      budget: caller.budget,
      cause: { kind: "request", id: this.requestId },
      expiresAt: new Date(this.parts.clock.now().getTime() + terms.holdMs),
    };
  }

  private estimateSpendable(): Nano | null {
    return this.parts.ledger.estimateSpendable(this.caller.accountId, this.caller.budget);
  }

  private takeHold(result: ResultOf<HoldOperation>): Promise<void> | undefined {
    const { terms } = this;
    this.state = result.kind === "held" ? "open" : "not-open";
    this.forgetPending();
    if (result.kind === "refused") {
      throw explainRefusedHold(result, { held: this.held, currency: this.parts.currency });
    }
    if (result.kind !== "held") throw new Error(`a new hold was answered with ${result.kind}`);
    // What a quota pays is set aside whole, and so is the price of a call that costs the same at any length.
    const isWhole = result.unit !== "money" || this.held >= priceHold(terms, terms.outputTokensMax);
    if (isWhole) this.coveredTokens = terms.outputTokensMax;
    if (!isWhole && !terms.isMetered) return this.extend(terms.outputTokensMax);
  }

  private forgetPending(): void {
    this.parts.pending.remove(this.caller.accountId, this.pendingAmount);
    this.pendingAmount = nothing;
  }

  private raise(amount: Nano): Promise<ResultOf<ExtendOperation>> {
    return this.parts.ledger.apply({
      kind: "extend",
      accountId: this.caller.accountId,
      holdId: this.holdId,
      amount,
      quotaUnits: countQuotaUnits(this.terms),
      budgetAmount: this.caller.budget?.amount ?? null,
      expiresAt: null,
    });
  }
}

const noSettlement: Settlement = { charge: nothing, lost: nothing };

function countQuotaUnits({ inputTokensMax, outputTokensMax }: ChatTerms): bigint {
  return BigInt(inputTokensMax + outputTokensMax);
}

/** A free model moves no money, so nothing is written. */
function createFreePayment({ outputTokensMax }: ChatTerms): ChatPayment {
  return {
    holdId: null,
    canAuthorizeOptimistically: () => true,
    open: async () => {},
    canCharge: isPlausible,
    countPayable: () => outputTokensMax,
    covered: () => outputTokensMax,
    describeHeldUsage: () => createUsage(0, 0),
    extend: async () => {},
    settle: async () => noSettlement,
  };
}

/** How far vendors may count beyond our bounds: pictures and hidden instructions are theirs to measure. */
const boundsFactor = 4;
const tokensBeyondBounds = 100_000;

/** More output than the cap that the upstream was given, by far, or more input than was sent, cannot be true. */
function isWithinReason({ inputTokensMax, outputTokensMax }: ChatTerms, usage: ChatUsage): boolean {
  return (
    usage.inputTokens <= inputTokensMax * boundsFactor + tokensBeyondBounds &&
    usage.outputTokens <= outputTokensMax * boundsFactor + tokensBeyondBounds
  );
}

function priceHold(terms: ChatTerms, output: number): Nano {
  const amount = priceTokens(terms.price, { input: terms.inputTokensMax, output });
  return amount > 0n ? amount : nano(1n);
}
