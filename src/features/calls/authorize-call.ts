import type { Bill } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { HoldId, IdSource } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Span } from "../../platform/tracing/span.ts";
import { toSpanFailure } from "../../platform/tracing/to-span-failure.ts";
import { type Claim, type Claims, createTakenOver, type KeptAnswer } from "../idempotency/index.ts";
import {
  type ConclusionOf,
  type DoubtfulCharge,
  type ExtendOperation,
  explainRefusedHold,
  type HoldOperation,
  type Ledger,
  type LedgerOperation,
  type ReleaseOperation,
  type ResultOf,
  type SettleOperation,
} from "../ledger/index.ts";
import type { CallKinds, CallMeter, CallTerms, HoldCover, Settlement } from "./paid-endpoint.ts";

/** The claim of a call with a key, which ends with its settlement or not at all. */
export type KeptEnd = {
  claim: Claim;
  /** About how large the answer is. */
  bytes: number;
  /** The answer that is to be given again; `null` where nothing was answered, so that the same request may run again. */
  describe(settlement: Settlement): KeptAnswer | null;
};

export type AuthorizationListener = {
  /** It is known whether more is on hold: time to look again. */
  onExtended(): void;
  onExtensionFailure(error: unknown): void;
};

type Money = {
  ledger: Ledger;
  claims: Claims;
  clock: Clock;
  ids: IdSource;
  currency: string;
};
type MeteredUnits = Pick<CallMeter<CallKinds>, "written" | "writtenMax">;

const nothing: Nano = nano(0n);
const noSettlement: Settlement = { charge: nothing, lost: nothing };

/**
 * | state       | what is true                                                            | what may follow         |
 * |-------------|-------------------------------------------------------------------------|-------------------------|
 * | `unopened`  | nothing is on hold                                                       | `opening`               |
 * | `opening`   | the hold is being written                                                | `open`, `void`          |
 * | `open`      | the hold is durable                                                      | `extending`             |
 * | `extending` | more is being put on hold                                                | `open`, `final`         |
 * | `final`     | the hold is durable, and there is no more to be had                      |                         |
 * | `void`      | refused; or nobody knows, and then it ends by itself                     |                         |
 */
type AuthorizationState = "unopened" | "opening" | "open" | "extending" | "final" | "void";

/** The money of one call, from the hold to its end. There is one for each call, so its functions are the class's. */
export class Authorization implements HoldCover {
  /** `null` for a free model: no money moves, so nothing is written. */
  readonly holdId: HoldId | null;
  private readonly money: Money;
  private readonly terms: CallTerms;
  private readonly caller: Caller;
  private readonly requestId: string;
  private readonly meter: MeteredUnits;
  /** Of the call. */
  private readonly span: Span | null;
  private held: Nano;
  private heldUnits: number;
  /** What the upstream was told, at most as much as the caller asked for. */
  private unitsAllowed: number;
  /** What the ledger has reserved for the call until its hold is written. */
  private early: Nano | null = null;
  private hold: HoldOperation | null = null;
  private settlement: SettleOperation | null = null;
  private state: AuthorizationState = "unopened";
  private openTimer: NodeJS.Timeout | undefined;
  /** `null` until the hold is being opened. */
  opening: Promise<void> | null = null;

  constructor(
    money: Money,
    { caller, requestId, terms, meter }: { caller: Caller; requestId: string; terms: CallTerms; meter: MeteredUnits },
    span: Span | null = null,
  ) {
    this.money = money;
    this.caller = caller;
    this.requestId = requestId;
    this.terms = terms;
    this.meter = meter;
    this.span = span;
    this.holdId = terms.isFree ? null : money.ids.next("hold");
    this.heldUnits = terms.isFree ? terms.unitsMax : terms.unitsUsual;
    this.held = terms.isFree ? nothing : terms.price(terms.unitsUsual);
    this.unitsAllowed = terms.unitsMax;
  }

  /**
   * Whether the money for all that the call can cost is reserved, so that it need not wait for its hold. A budget cannot be
   * reserved: other processes may use it up at any moment.
   */
  canAuthorizeOptimistically(): boolean {
    if (this.holdId === null) return true;
    const { terms, caller, money } = this;
    const most = terms.price(terms.unitsMax);
    if (caller.budget !== null || !money.ledger.beginEarly(caller.accountId, most)) return false;
    if (!terms.isMetered) {
      this.held = most;
      this.heldUnits = terms.unitsMax;
    }
    this.early = most;
    return true;
  }

  /** Opens the hold after a moment, unless it is opened before. */
  openSoon(delayMs: number, open: () => void): void {
    if (this.opening === null) this.openTimer = setTimeout(open, delayMs);
  }

  /**
   * Opens the hold: for all that the call can cost where that is known to be there, else for as much as there is. Rejects
   * with the error that says what is missing. Called once.
   */
  open(): Promise<void> {
    clearTimeout(this.openTimer);
    this.opening = this.holdId === null ? this.openFree() : this.openHold(this.holdId);
    return this.opening;
  }

  private openFree(): Promise<void> {
    this.state = "open";
    return Promise.resolve();
  }

  private openHold(id: HoldId): Promise<void> {
    this.state = "opening";
    this.hold = this.describeHold(id);
    return this.apply(this.hold).then(
      (result) => this.onHoldResult(result),
      (error: unknown) => {
        this.state = "void";
        this.endEarly();
        throw error;
      },
    );
  }

  /** How many units an upstream may be told to write. From then on it is held to that. */
  decideUnitsAllowed(): number {
    this.unitsAllowed = this.countPayable();
    return this.unitsAllowed;
  }

  /** How many units can be paid for by what is on hold and, where output is metered, by what else is there. */
  countPayable(): number {
    const { terms, held, heldUnits } = this;
    if (heldUnits >= terms.unitsMax) return terms.unitsMax;
    // Nobody could stop it where the hold ends.
    if (!terms.isMetered) return heldUnits;
    const spendable = this.estimateSpendable() ?? nothing;
    const payable = terms.countAffordable(nano(held + spendable));
    return Math.min(Math.max(payable, heldUnits), terms.unitsMax);
  }

  unitsHeld(): number {
    return this.heldUnits;
  }

  /** Whether an answer has to wait for what is being put on hold for it. */
  isShort(): boolean {
    return this.state === "extending" && this.isBeyond();
  }

  isBeyond(): boolean {
    const { heldUnits, unitsAllowed, meter } = this;
    if (heldUnits >= this.terms.unitsMax) return false;
    // An upstream that was told no more than is on hold stops by itself. Any other is stopped before it can pass the hold,
    // by however many tokens its tokenizer makes of what it has written.
    return (heldUnits >= unitsAllowed ? meter.written() : meter.writtenMax()) >= heldUnits;
  }

  /**
   * Extends the hold once three quarters of it may be used. Beyond all of it, an answer waits for that, or, where no more
   * is to be had, ends.
   */
  watch(listener: AuthorizationListener): "go-on" | "wait" | "stop" {
    const { heldUnits, unitsAllowed, meter } = this;
    if (heldUnits >= this.terms.unitsMax) return "go-on";
    const isDue = heldUnits < unitsAllowed && meter.writtenMax() * 4 >= heldUnits * 3;
    if (isDue && this.state === "open") this.grow(listener);
    if (!this.isBeyond()) return "go-on";
    return this.state === "extending" ? "wait" : "stop";
  }

  private grow(listener: AuthorizationListener): void {
    const before = this.heldUnits;
    this.state = "extending";
    this.extend(Math.min(before * 2, this.unitsAllowed)).then(
      () => {
        this.state = this.heldUnits > before ? "open" : "final";
        listener.onExtended();
      },
      (error: unknown) => {
        this.state = "final";
        listener.onExtensionFailure(error);
      },
    );
  }

  /** Puts more on hold for so many units in all, or for as many as there is money. */
  async extend(units: number): Promise<void> {
    const wanted = this.terms.price(units);
    const result = await this.raise(wanted);
    if (result.kind === "extended") {
      this.held = wanted;
      this.heldUnits = units;
      return;
    }
    if (result.kind !== "refused") return;
    // What is there is better than nothing; if it goes in the same moment, the answer ends where the hold does.
    const less = nano(wanted - result.missing);
    const payable = this.terms.countAffordable(less);
    if (payable <= this.heldUnits || (await this.raise(less)).kind !== "extended") return;
    this.held = less;
    this.heldUnits = payable;
  }

  /** Charges a bill, or nothing where it is `null`, and releases the rest. A claim ends with it. */
  async settle(bill: Bill | null, kept: KeptEnd | null): Promise<Settlement> {
    const { holdId, money } = this;
    // What is void holds nothing.
    if (holdId === null || this.state === "unopened" || this.state === "void") {
      if (kept !== null) await money.claims.end({ claim: kept.claim, answer: kept.describe(noSettlement) });
      return noSettlement;
    }
    const { accountId, budget } = this.caller;
    if (bill === null) {
      const operation: ReleaseOperation = { kind: "release", accountId, holdId };
      await this.apply(operation, kept === null ? null : concludeRelease(kept));
      return noSettlement;
    }
    const operation: SettleOperation = {
      ...{ kind: "settle", accountId, holdId, bill, overrun: "charge-hold" },
      budgetAmount: budget?.amount ?? null,
    };
    this.settlement = operation;
    const result = await this.apply(operation, kept === null ? null : concludeSettlement(kept));
    const settlement = readSettlement(result);
    if (settlement !== null) return settlement;
    // Whoever takes a key over releases the hold of the request that had it.
    if (kept !== null && result.kind === "already-resolved" && result.state === "released") throw createTakenOver();
    throw new Error(`the hold ${holdId} could not be settled: ${result.kind}`);
  }

  /** The whole hold as a bill, for a call whose usage cannot be computed. */
  billHold(): Bill {
    const { priceId, quota } = this.terms;
    return { priceId, items: [], per: 1n, minimum: this.held, quotaUnits: quota.units };
  }

  /** What may have been written although nobody could be told; `null` where nothing was to be charged. */
  describeDoubt(): DoubtfulCharge | null {
    const { hold, settlement, money } = this;
    if (hold === null || settlement === null) return null;
    return { hold, settlement, refundId: money.ids.next("txn") };
  }

  /** Has the ledger do something, told by a span of its own where the call is traced. */
  private apply<O extends LedgerOperation>(
    operation: O,
    conclusion: ConclusionOf<O> | null = null,
  ): Promise<ResultOf<O>> {
    const { ledger } = this.money;
    if (this.span === null) return ledger.apply(operation, conclusion);
    const span = this.span.start(`ledger ${operation.kind}`);
    const applied = ledger.apply(operation, conclusion, span);
    applied.then(
      ({ kind }) => span.end(kind === "refused" ? { errorType: kind } : null),
      (error: unknown) => span.end(toSpanFailure(error)),
    );
    return applied;
  }

  private describeHold(id: HoldId): HoldOperation {
    const { terms, caller } = this;
    return {
      kind: "hold",
      id,
      accountId: caller.accountId,
      amount: this.held,
      quota: terms.quota,
      keyId: caller.keyId,
      budget: caller.budget,
      cause: { kind: "request", id: this.requestId },
      expiresAt: new Date(this.money.clock.now().getTime() + terms.holdMs),
      ...(this.early === null ? {} : { early: this.early }),
    };
  }

  private estimateSpendable(): Nano | null {
    return this.money.ledger.estimateSpendable(this.caller.accountId, this.caller.budget);
  }

  private onHoldResult(result: ResultOf<HoldOperation>): Promise<void> | undefined {
    const { terms } = this;
    this.state = result.kind === "held" ? "open" : "void";
    this.endEarly();
    if (result.kind !== "held") {
      throw explainRefusedHold(result, { held: this.held, currency: this.money.currency });
    }
    // What a quota pays is on hold whole, and so is the price of a call that costs the same at any length.
    const isWhole = result.unit !== "money" || this.held >= terms.price(terms.unitsMax);
    if (isWhole) this.heldUnits = terms.unitsMax;
    if (!isWhole && !terms.isMetered) return this.extend(terms.unitsMax);
  }

  private endEarly(): void {
    if (this.early !== null) this.money.ledger.endEarly(this.caller.accountId, this.early);
    this.early = null;
  }

  private async raise(amount: Nano): Promise<ResultOf<ExtendOperation>> {
    return this.apply({
      kind: "extend",
      accountId: this.caller.accountId,
      holdId: this.holdId as HoldId,
      amount,
      quotaUnits: this.terms.quota.units,
      budgetAmount: this.caller.budget?.amount ?? null,
      expiresAt: null,
    });
  }
}

function concludeRelease({ claim, bytes, describe }: KeptEnd): ConclusionOf<ReleaseOperation> {
  // A hold that is not there any more, or never was, must not keep the key from the next request.
  return { claim, bytes, describe: () => describe(noSettlement) };
}

function concludeSettlement({ claim, bytes, describe }: KeptEnd): ConclusionOf<SettleOperation> {
  return {
    ...{ claim, bytes },
    describe(result) {
      const settlement = readSettlement(result);
      return settlement === null ? undefined : describe(settlement);
    },
  };
}

/** `null` where nothing was settled. What a quota paid cost no money. */
function readSettlement(result: ResultOf<SettleOperation>): Settlement | null {
  if (result.kind !== "settled") return null;
  return result.unit === "money" ? { charge: nano(result.paid), lost: nano(result.lost) } : noSettlement;
}
