import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { HoldId, IdSource } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { ChatUsage } from "../../providers/contract.ts";
import type { Price } from "../catalog/index.ts";
import {
  explainRefusedHold,
  type HoldOperation,
  type Ledger,
  type ReleaseOperation,
  type SettleOperation,
} from "../ledger/index.ts";
import {
  billChat,
  type ChargedUsage,
  countAffordableTokens,
  isChargeable,
  isFree,
  isPlausible,
  nothing,
  priceTokens,
} from "./quote-chat.ts";

/** How a call will be paid for. */
export type ChatTerms = {
  price: Price;
  /** More tokens of input than this it cannot have. */
  inputTokensMax: number;
  /** The most output of all choices together that the caller asked for or the model gives. */
  outputTokensMax: number;
  /** As much output is paid for before anything is known. */
  outputTokensHeld: number;
  choices: number;
  holdMs: number;
};

export type Settlement = { charge: Nano; lost: Nano };

/** Where a settlement is written: by itself, or together with something that must not happen without it. */
type SettleOrRelease = (operation: SettleOperation | ReleaseOperation) => Promise<LedgerEnd>;
type LedgerEnd = Awaited<ReturnType<Ledger["apply"]>>;

/** The money of one call, from the hold to its end. */
export type ChatPayment = {
  holdId: HoldId | null;
  /**
   * Whether so much money is there, by what is known, that the call need not wait for its hold. Otherwise the hold comes
   * first.
   */
  isComfortable(): boolean;
  /** Sets the money aside, or throws the error that says what is missing. */
  open(): Promise<void>;
  /** Whether a bill can be made of what an upstream reported: it may report anything. */
  canCharge(usage: ChatUsage): boolean;
  /** How many tokens of output, of all choices together, the account can pay for. */
  countPayable(): number;
  /** How many tokens of output are paid for at the moment. */
  covered(): number;
  /** Sets more aside for this many tokens in all, or for as many as there is money. */
  extend(outputTokens: number): Promise<void>;
  /** Charges what was used, or nothing when `usage` is `null`, and gives the rest back. */
  settle(usage: ChargedUsage | null, write?: SettleOrRelease): Promise<Settlement>;
};

type PaymentParts = { ledger: Ledger; clock: Clock; ids: IdSource; currency: string };

/** So many times the most that a call can cost must be there for it to begin before its hold is written. */
const comfort = 4n;

export function createChatPayment(
  parts: PaymentParts,
  terms: ChatTerms,
  { caller, requestId }: { caller: Caller; requestId: string },
): ChatPayment {
  if (isFree(terms.price)) return createFreePayment(terms);
  const { ledger, clock } = parts;
  const { accountId } = caller;
  const budget = caller.budget === null ? null : { ...caller.budget, keyId: caller.keyId };
  const budgetAmount = caller.budget?.amount ?? null;
  const holdId = parts.ids.next("hold");
  const quotaUnits = BigInt(terms.inputTokensMax + terms.outputTokensMax);
  let held = priceHold(terms, terms.outputTokensHeld);
  let covered = terms.outputTokensHeld;
  let state: "unopened" | "opening" | "open" | "not-open" = "unopened";

  function describeHold(): HoldOperation {
    return {
      kind: "hold",
      id: holdId,
      accountId,
      amount: held,
      quota: { kind: "text", units: quotaUnits },
      keyId: caller.keyId,
      budget,
      cause: { kind: "request", id: requestId },
      expiresAt: new Date(clock.now().getTime() + terms.holdMs),
    };
  }

  async function raise(amount: Nano) {
    return await ledger.apply({ kind: "extend", accountId, holdId, amount, quotaUnits, budgetAmount, expiresAt: null });
  }

  return {
    holdId,
    isComfortable() {
      const spendable = ledger.estimateSpendable(accountId, budget);
      return spendable !== null && spendable >= comfort * priceHold(terms, terms.outputTokensMax);
    },
    async open() {
      state = "opening";
      const opening = ledger.apply(describeHold());
      let result: Awaited<typeof opening>;
      try {
        result = await opening;
      } catch (error) {
        state = "not-open";
        throw error;
      }
      state = result.kind === "held" ? "open" : "not-open";
      if (result.kind === "refused") throw explainRefusedHold(result, { held, currency: parts.currency });
      if (result.kind !== "held") throw new Error(`a new hold was answered with ${result.kind}`);
      // What a quota pays is set aside whole.
      if (result.unit !== "money") covered = terms.outputTokensMax;
    },
    canCharge: (usage) => isWithinReason(terms, usage) && isChargeable(terms.price, usage),
    countPayable() {
      if (covered >= terms.outputTokensMax) return terms.outputTokensMax;
      const spendable = ledger.estimateSpendable(accountId, budget) ?? nothing;
      const payable = countAffordableTokens(terms.price, nano(held + spendable), terms.inputTokensMax);
      return Math.min(Math.max(payable, covered), terms.outputTokensMax);
    },
    covered: () => covered,
    async extend(outputTokens) {
      const wanted = priceHold(terms, outputTokens);
      const result = await raise(wanted);
      if (result.kind === "extended") {
        held = wanted;
        covered = outputTokens;
        return;
      }
      if (result.kind !== "refused") return;
      // What is there is better than nothing; if it goes in the same moment, the answer ends where the hold does.
      const less = nano(wanted - result.missing);
      const payable = countAffordableTokens(terms.price, less, terms.inputTokensMax);
      if (payable <= covered || (await raise(less)).kind !== "extended") return;
      held = less;
      covered = payable;
    },
    async settle(usage, write = (operation) => ledger.apply(operation)) {
      // One that was refused holds nothing; one of which nobody knows whether it was written ends by itself.
      if (state !== "opening" && state !== "open") return { charge: nothing, lost: nothing };
      if (usage === null) {
        await write({ kind: "release", accountId, holdId });
        return { charge: nothing, lost: nothing };
      }
      const bill = billChat(terms.price, usage);
      const result = await write({ kind: "settle", accountId, holdId, bill, overrun: "take-available", budgetAmount });
      if (result.kind !== "settled") throw new Error(`the hold ${holdId} could not be settled: ${result.kind}`);
      const isMoney = result.unit === "money";
      return { charge: isMoney ? nano(result.paid) : nothing, lost: isMoney ? nano(result.lost) : nothing };
    },
  };
}

/** A free model moves no money, so nothing is written. */
function createFreePayment({ outputTokensMax }: ChatTerms): ChatPayment {
  return {
    holdId: null,
    isComfortable: () => true,
    open: async () => {},
    canCharge: isPlausible,
    countPayable: () => outputTokensMax,
    covered: () => outputTokensMax,
    extend: async () => {},
    settle: async () => ({ charge: nothing, lost: nothing }),
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
