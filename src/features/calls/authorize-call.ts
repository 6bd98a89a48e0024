import type { Bill } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { HoldId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Span } from "../../platform/tracing/span.ts";
import { toSpanFailure } from "../../platform/tracing/to-span-failure.ts";
import { type Claim, createTakenOver, type KeptAnswer } from "../idempotency/index.ts";
import {
  type ConclusionOf,
  type DoubtfulCharge,
  type ExtendOperation,
  explainRefusedHold,
  type HoldOperation,
  type LedgerOperation,
  type RefusalTexts,
  type ReleaseOperation,
  type ResultOf,
  type SettleOperation,
} from "../ledger/index.ts";
import type { CallContext } from "./call-context.ts";
import type { CallKinds, CallMeter, CallTerms, HoldCover, Settlement } from "./paid-endpoint.ts";
import { capTerms } from "./quoted-call.ts";

/** A claim that ends in the same transaction as the hold. */
export type KeptEnd = {
  claim: Claim;
  /** The approximate size of the response. */
  bytes: number;
  /** The response to store; `null` frees the key, so the same request may run again. */
  describe(settlement: Settlement): KeptAnswer | null;
};

export type AuthorizationListener = {
  /** An extension was granted or refused: check the hold again. */
  onExtended(): void;
  onExtensionFailure(error: unknown): void;
};

type Money = Pick<CallContext, "ledger" | "claims" | "clock" | "ids" | keyof RefusalTexts>;
type AuthorizedPlan = {
  caller: Caller;
  requestId: string;
  terms: CallTerms;
  meter: MeteredUnits;
  /** The most that was quoted. */
  quoted?: Nano;
};
type MeteredUnits = Pick<CallMeter<CallKinds>, "written" | "writtenMax">;

const nothing: Nano = nano(0n);
const noSettlement: Settlement = { charge: nothing, lost: nothing };

/**
 * | state       | what is true                                            | next state      |
 * |-------------|---------------------------------------------------------|-----------------|
 * | `unopened`  | nothing is on hold                                      | `opening`       |
 * | `opening`   | the hold is being written                               | `open`, `void`  |
 * | `open`      | the hold is durable                                     | `extending`     |
 * | `extending` | an extension is being written                           | `open`, `final` |
 * | `final`     | the hold is durable and cannot be extended              |                 |
 * | `void`      | refused, or not confirmed: then the hold expires        |                 |
 */
type AuthorizationState = "unopened" | "opening" | "open" | "extending" | "final" | "void";

/** The money of one call, from its hold to the settlement. A class, because there is one per call. */
export class Authorization implements HoldCover {
  /** `null` for a free model: nothing is written. */
  readonly holdId: HoldId | null;
  private readonly money: Money;
  private readonly terms: CallTerms;
  private readonly caller: Caller;
  private readonly requestId: string;
  private readonly meter: MeteredUnits;
  private readonly span: Span | null;
  private held: Nano;
  private heldUnits: number;
  /** The output cap that the upstream was given. */
  private unitsAllowed: number;
  /** The amount that the ledger reserved for the call until its hold is written. */
  private early: Nano | null = null;
  private hold: HoldOperation | null = null;
  private settlement: SettleOperation | null = null;
  private state: AuthorizationState = "unopened";
  private openTimer: NodeJS.Timeout | undefined;
  /** `null` until the hold is being opened. */
  opening: Promise<void> | null = null;

  constructor(
    money: Money,
    { caller, requestId, terms: planned, meter, quoted }: AuthorizedPlan,
    span: Span | null = null,
  ) {
    const terms = quoted === undefined ? planned : capTerms(planned, quoted);
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
   * Whether the call's maximum cost is reserved, so it need not wait for its hold. A key's budget cannot be reserved: other
   * processes may use it up at any moment.
   */
  canAuthorizeOptimistically(): boolean {
    if (this.holdId === null) return true;
    const { terms, caller, money } = this;
    const most = this.heldUnits === terms.unitsMax ? this.held : terms.price(terms.unitsMax);
    if (caller.budget !== null || !money.ledger.beginEarly(caller.accountId, most)) return false;
    if (!terms.isMetered) {
      this.held = most;
      this.heldUnits = terms.unitsMax;
    }
    this.early = most;
    return true;
  }

  /** Whether other calls can start early although this one keeps its part of the reserve for a while. */
  hasAmpleReserve(): boolean {
    return this.early !== null && this.money.ledger.hasAmpleReserve(this.caller.accountId);
  }

  /** Opens the hold after `delayMs`, unless it was opened before. */
  openSoon(delayMs: number, open: () => void): void {
    if (this.opening === null) this.openTimer = setTimeout(open, delayMs);
  }

  /**
   * Opens the hold: for `unitsUsual` if the output is metered, else for `unitsMax` or as much as the balance allows.
   * Rejects with the amount that is missing. Called once.
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

  /** Sets and returns the upstream's output cap. */
  decideUnitsAllowed(): number {
    this.unitsAllowed = this.countPayable();
    return this.unitsAllowed;
  }

  /** Units that the hold pays for; if output is metered, also those that the rest of the balance pays for. */
  countPayable(): number {
    const { terms, held, heldUnits } = this;
    if (heldUnits >= terms.unitsMax) return terms.unitsMax;
    // Unmetered output cannot be stopped at the hold.
    if (!terms.isMetered) return heldUnits;
    const spendable = this.estimateSpendable() ?? nothing;
    const payable = terms.countAffordable(nano(held + spendable));
    return Math.min(Math.max(payable, heldUnits), terms.unitsMax);
  }

  unitsHeld(): number {
    return this.heldUnits;
  }

  /** Whether the response has to wait for a pending extension. */
  isShort(): boolean {
    return this.state === "extending" && this.isBeyond();
  }

  isBeyond(): boolean {
    const { heldUnits, unitsAllowed, meter } = this;
    if (heldUnits >= this.terms.unitsMax) return false;
    // An upstream whose cap is within the hold stops by itself. Stop any other before it can exceed the hold, by the most
    // tokens that its tokenizer could count.
    return (heldUnits >= unitsAllowed ? meter.written() : meter.writtenMax()) >= heldUnits;
  }

  /**
   * Extends the hold once three quarters of it may be used. A response beyond the hold waits for the extension, or ends if
   * there is no more money.
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

  /** Raises the hold to cover `units`, or as many as the balance allows. */
  async extend(units: number): Promise<void> {
    const wanted = this.terms.price(units);
    const result = await this.raise(wanted);
    if (result.kind === "extended") {
      this.held = wanted;
      this.heldUnits = units;
      return;
    }
    if (result.kind !== "refused") return;
    // Take what the balance has. If another call takes it first, the response ends at the current hold.
    const less = nano(wanted - result.missing);
    const payable = this.terms.countAffordable(less);
    if (payable <= this.heldUnits || (await this.raise(less)).kind !== "extended") return;
    this.held = less;
    this.heldUnits = payable;
  }

  /** Charges the bill and releases the rest of the hold; `null` releases all of it. Ends the claim in the same write. */
  async settle(bill: Bill | null, kept: KeptEnd | null): Promise<Settlement> {
    const { holdId, money } = this;
    // No hold to end.
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
      kind: "settle",
      accountId,
      holdId,
      bill,
      overrun: "charge-hold",
      budgetAmount: budget?.amount ?? null,
    };
    this.settlement = operation;
    const result = await this.apply(operation, kept === null ? null : concludeSettlement(kept));
    const settlement = readSettlement(result);
    if (settlement !== null) return settlement;
    // A request that takes over a key releases the hold of the request that had it.
    if (kept !== null && result.kind === "already-resolved" && result.state === "released") throw createTakenOver();
    throw new Error(`the hold ${holdId} could not be settled: ${result.kind}`);
  }

  /** The whole hold as a bill, for a call whose usage cannot be computed. */
  billHold(): Bill {
    const { priceId, quota } = this.terms;
    return { priceId, items: [], per: 1n, minimum: this.held, quotaUnits: quota.units };
  }

  /** The charge that may have been written without confirmation; `null` if there was none to write. */
  describeDoubt(): DoubtfulCharge | null {
    const { hold, settlement, money } = this;
    if (hold === null || settlement === null) return null;
    return { hold, settlement, refundId: money.ids.next("txn") };
  }

  /** Applies an operation, in a span of its own if the call is traced. */
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
      throw explainRefusedHold(result, { ...this.money, held: this.held });
    }
    // A quota always holds the whole amount, and so does a price that does not depend on length.
    const isWhole =
      result.unit !== "money" || this.heldUnits >= terms.unitsMax || this.held >= terms.price(terms.unitsMax);
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
  // Free the key even if the hold has ended or was never opened.
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

/** `null` if nothing was settled. A charge that a quota paid costs no money. */
function readSettlement(result: ResultOf<SettleOperation>): Settlement | null {
  if (result.kind !== "settled") return null;
  return result.unit === "money" ? { charge: nano(result.paid), lost: nano(result.lost) } : noSettlement;
}
