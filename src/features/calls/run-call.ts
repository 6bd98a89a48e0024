import type { Bill } from "../../lib/bill.ts";
import { itemizeCost } from "../../lib/upstream-cost.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import type { FailedAttempt, SeenLimits } from "../../platform/http/request-context.ts";
import type { Span } from "../../platform/tracing/span.ts";
import { toSpanFailure } from "../../platform/tracing/to-span-failure.ts";
import type { ProviderError } from "../../providers/contract.ts";
import type { KeptAnswer } from "../idempotency/index.ts";
import { deriveTransactionId } from "../ledger/index.ts";
import { correctTokens, returnSlot, type Slot } from "../limits/index.ts";
import { type Admission, admitCall, type KeyedRequest } from "./admit-call.ts";
import { Authorization, type AuthorizationListener, type KeptEnd } from "./authorize-call.ts";
import {
  type CallEffect,
  type CallEvent,
  type CallState,
  decideHangUp,
  decideTransition,
  hasHungUp,
  isBuffering,
} from "./call.ts";
import type { CallAudience, CallContext, KeptCall, RunningCall } from "./call-context.ts";
import { toAppError } from "./call-errors.ts";
import { type CallStep, decideCharge, type EventDetail, explainCut, type Verdict } from "./decide-charge.ts";
import type { CallEnd, CallKinds, CallPlan, CallTokens, Settlement } from "./paid-endpoint.ts";
import {
  countCharge,
  describeCall,
  describeCallSpan,
  presentAttempt,
  type Routed,
  recordCallEnd,
  recordCost,
} from "./record-call.ts";
import { type RoutedRun, type RoutedSink, routeCall } from "./route-call.ts";

type BufferedEvent<K extends CallKinds> = { event: CallEvent; detail: EventDetail<K> };

/**
 * How long an optimistic start delays its hold, so the request leaves first. Opened at once, the hold delayed the request
 * by 0.4 ms on a small machine.
 */
const openAfterMs = 1;
/**
 * The same for a response that is not streamed: if it arrives earlier, hold and charge are one commit instead of two, which
 * halves the database's work. The reserve covers the call meanwhile. If the process dies, the call costs nothing, as it
 * would with a hold.
 */
const openWholeAfterMs = 100;

const noDetail = {};
const noTokens: CallTokens = { input: 0, output: 0 };
const unsent: RoutedRun<never> = {
  ...{ target: null, upstreamRequestId: null, failedAttempts: [] },
  ...{ pause: () => {}, resume: () => {}, cancel: () => {}, stopFailover: () => {} },
};
const noPlace = (): void => {};

/**
 * One paid call, from admission to settlement. The table in `call.ts` decides; `perform` is the only place that acts. Effects
 * are isolated: if one throws, the others of the transition still run and the call gets the event `fault`. So no exception
 * leaves a hold open or `ended` pending.
 */
export class PaidCall<K extends CallKinds> implements RunningCall, RoutedSink<K>, AuthorizationListener {
  readonly plan: CallPlan<K>;
  readonly ended: Promise<CallEnd<K>>;
  private readonly context: CallContext;
  readonly authorization: Authorization;
  readonly span: Span | null;
  private readonly resolve: (end: CallEnd<K>) => void;
  private readonly reject: (error: unknown) => void;
  private state: CallState = "received";
  private audience: CallAudience<K> = { listener: null, kept: null };
  private run: RoutedRun<K> = unsent;
  /** Events that wait for the hold, in order. */
  private readonly buffered: BufferedEvent<K>[] = [];
  private callerBuffer: "free" | "full" = "free";
  private leaveRegistry: () => void = noPlace;
  private leaveDrainPlace: () => void = noPlace;

  /** `parent` is the request's span, `null` if it is not traced. */
  constructor(context: CallContext, plan: CallPlan<K>, parent: Span | null = null) {
    const { promise, resolve, reject } = Promise.withResolvers<CallEnd<K>>();
    this.context = context;
    this.plan = plan;
    this.span = parent?.start(...describeCallSpan(plan)) ?? null;
    this.authorization = new Authorization(context, plan, this.span);
    this.ended = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Claims the call's key and consumes the caller's limits. Throws if a limit is exceeded. */
  async admit(keyed: KeyedRequest | null, seen: SeenLimits | undefined): Promise<Admission> {
    const { caller, requestId, tokensLikely } = this.plan;
    const { holdId } = this.authorization;
    const call = { caller, requestId, holdId, demand: { tokens: tokensLikely, slot: this.describeSlot() } };
    try {
      const admission = await admitCall(this.context, call, { keyed, seen });
      this.dispatch(admission.kind === "admitted" ? "admit" : "replay");
      if (admission.kind === "answered") this.endReplay();
      return admission;
    } catch (error) {
      this.span?.end(toSpanFailure(error));
      throw error;
    }
  }

  private endReplay(): void {
    this.span?.set({ "sluice.replayed": true });
    this.span?.end();
  }

  start(audience: CallAudience<K>): void {
    this.audience = audience;
    this.leaveRegistry = this.context.running.add(this);
    this.dispatch(this.decideStart());
  }

  private decideStart(): "race" | "reserve" {
    try {
      return this.authorization.canAuthorizeOptimistically() ? "race" : "reserve";
    } catch (error) {
      this.reportFault(error);
      return "reserve";
    }
  }

  /** A method of its own: a closure in `perform` would be allocated for every effect. */
  private openSoon(): void {
    this.authorization.openSoon(this.decideOpenDelay(), () => void this.authorize());
  }

  private decideOpenDelay(): number {
    const isWhole = this.audience.listener === null;
    return isWhole && this.authorization.hasAmpleReserve() ? openWholeAfterMs : openAfterMs;
  }

  /** Resolves when the hold is open; rejects with the reason if the ledger refuses it. */
  authorize(): Promise<void> {
    const { authorization } = this;
    if (authorization.opening !== null) return authorization.opening;
    const opening = authorization.open();
    opening.then(
      () => this.dispatch("authorize"),
      (error: unknown) => this.dispatch("refuse", { error }),
    );
    return opening;
  }

  onAccepted(): void {
    this.dispatch("accept");
  }

  onPieces(deltas: readonly K["delta"][]): void {
    this.dispatch("pieces", { deltas });
  }

  onEnd(reported: K["reported"] | null): void {
    this.dispatch("end", { reported });
  }

  onAnswer(answer: K["answer"]): void {
    this.dispatch("answer", { answer });
  }

  onFailure(error: AppError): void {
    this.dispatch("fail", { error });
  }

  onFailedAttempt(attempt: FailedAttempt, error: ProviderError): void {
    this.context.logger.warn({ ...describeCall(this.plan), ...presentAttempt(attempt), error }, "upstream failed");
  }

  onExtended(): void {
    this.isolate(() => this.watchHold());
  }

  onExtensionFailure(error: unknown): void {
    this.dispatch("stop", { error: toAppError(error) });
  }

  /** The caller's buffer has room again. */
  resume(): void {
    this.callerBuffer = "free";
    this.isolate(() => this.readOn());
  }

  /** The caller closed the connection. */
  hangUp(): void {
    this.dispatch("hang-up");
  }

  stop(error: AppError): void {
    this.dispatch(this.audience.isHandedOver === true ? "hand-over" : "stop", { error });
  }

  private dispatch(event: CallEvent, detail: EventDetail<K> = noDetail): void {
    const { state: from } = this;
    const cell = decideTransition(from, event);
    if (cell === "ignore") return;
    if (cell === "impossible") {
      this.onFault(new Error(`a call that is ${from} cannot ${event}`));
      return;
    }
    this.state = cell.to;
    const step = { event, from, charge: cell.charge, detail };
    for (const effect of cell.effects) {
      try {
        this.perform(effect, step);
      } catch (error) {
        this.onFault(error);
      }
    }
  }

  private isolate(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.onFault(error);
    }
  }

  /** Reports an exception of the gateway's own code, and ends a call that still runs. */
  private onFault(cause: unknown): void {
    this.reportFault(cause);
    // `received` and `admitted` have no hold to end, and an impossible `fault` would recurse.
    if (decideTransition(this.state, "fault") === "impossible") return;
    this.dispatch("fault", { error: toAppError(cause) });
  }

  reportFault(error: unknown): void {
    const { context, plan } = this;
    context.metrics.callFaults.at(plan.modelId).add(1);
    context.logger.error({ ...describeCall(plan), state: this.state, error }, "paid call failed inside the gateway");
  }

  private perform(effect: CallEffect, step: CallStep<K>): void {
    switch (effect) {
      case "open-hold":
        void this.authorize();
        return;
      case "open-hold-soon":
        this.openSoon();
        return;
      case "open-hold-for-stream":
        if (this.audience.listener !== null) void this.authorize();
        return;
      case "send":
        this.send();
        return;
      case "buffer":
        this.buffered.push(step);
        return;
      case "flush":
        this.flush();
        return;
      case "pause-upstream":
        this.run.pause();
        return;
      case "cancel-upstream":
        this.run.cancel();
        return;
      case "send-head":
        this.audience.listener?.onAccepted();
        return;
      case "deliver":
        this.deliver(step.detail.deltas ?? []);
        return;
      case "truncate":
        this.audience.listener?.onCut(explainCut(step.event));
        return;
      case "decide-hang-up":
        this.handleHangUp();
        return;
      case "settle":
        this.settle(step);
        return;
      case "release":
        this.release(step);
        return;
      case "finish":
        this.finish(step.detail);
        return;
      default:
        effect satisfies never;
    }
  }

  /** In `racing` the reserve covers `unitsMax`. Otherwise the account's money caps the output. */
  private send(): void {
    const { plan, state } = this;
    // A buffered stop may have ended the call already.
    if (state !== "racing" && state !== "authorized") return;
    const unitsMax = state === "racing" ? plan.terms.unitsMax : this.authorization.decideUnitsAllowed();
    plan.meter.begin(unitsMax);
    this.run = routeCall<K>(this.context.routing, { request: plan, unitsMax, span: this.span }, this);
  }

  private flush(): void {
    while (!isBuffering(this.state)) {
      const next = this.buffered.shift();
      if (next === undefined) break;
      this.dispatch(next.event, next.detail);
    }
    this.readOn();
  }

  private readOn(): void {
    if (!isBuffering(this.state) && this.callerBuffer === "free") this.run.resume();
  }

  private deliver(deltas: readonly K["delta"][]): void {
    const { meter } = this.plan;
    const { listener } = this.audience;
    const count = meter.take(deltas, this.authorization);
    if (count > 0 && listener !== null && !hasHungUp(this.state)) {
      if (!listener.onPieces(count === deltas.length ? deltas : deltas.slice(0, count))) {
        this.callerBuffer = "full";
        this.run.pause();
      }
    }
    if (meter.isPastCap()) {
      this.dispatch("overrun");
      return;
    }
    this.watchHold();
    // Deltas beyond the hold wait for the extension. Without one the response is over, and the rest is dropped.
    if (count < deltas.length && isBuffering(this.state)) {
      this.buffered.unshift({ event: "pieces", detail: { deltas: deltas.slice(count) } });
    }
  }

  private watchHold(): void {
    const verdict = this.authorization.watch(this);
    if (verdict === "wait") this.dispatch("run-short");
    // A response that is already complete needs no truncation.
    else if (verdict === "stop" && !this.plan.meter.isComplete()) this.dispatch("exhaust");
    else this.dispatch("cover");
  }

  /** Reading on for a caller who hung up ignores the caller's full buffer. */
  private handleHangUp(): void {
    if (!hasHungUp(this.state)) return;
    const verdict = decideHangUp({
      hasVerdict: this.state !== "abandoned",
      isCostKnown: this.plan.meter.isCostKnown(),
      hasDrainPlace: () => this.takeDrainPlace(),
    });
    if (verdict !== "read-on") {
      this.dispatch(verdict);
      return;
    }
    this.run.stopFailover();
    this.resume();
  }

  private takeDrainPlace(): boolean {
    if (this.leaveDrainPlace !== noPlace) return true;
    this.leaveDrainPlace = this.context.drainedCalls.take(this.plan.caller.accountId) ?? noPlace;
    return this.leaveDrainPlace !== noPlace;
  }

  /** Decides the charge and writes it. It is final. */
  private settle(step: CallStep<K>): void {
    const verdict = decideCharge<K>(this, step);
    // The ledger applies operations in order: the hold, then its settlement.
    const opening = this.authorize();
    const settling = this.authorization.settle(addCost(verdict), this.describeKept(verdict));
    // The response came before the hold: if the hold was refused, report that instead of the failed settlement.
    const settled = step.from === "racing" ? opening.then(() => settling) : settling;
    if (settled !== settling) settling.catch(() => {});
    settled.then(
      (settlement) => this.onSettled(verdict, settlement),
      (error: unknown) => this.onLost(step, error),
    );
  }

  private describeKept(verdict: Verdict<K>): KeptEnd | null {
    const { kept } = this.audience;
    if (kept === null) return null;
    const { claim } = kept;
    if (verdict.kind === "faulted") return { claim, bytes: 0, describe: () => kept.describeFault(verdict.failure) };
    const { end } = verdict;
    return {
      ...{ claim, bytes: this.countKeptBytes(kept) },
      describe: (settlement) => this.describeAnswer(kept, { ...end, settlement }),
    };
  }

  private countKeptBytes(kept: KeptCall<K>): number {
    try {
      return kept.bytes();
    } catch (error) {
      this.reportFault(error);
      return 0;
    }
  }

  /** The ledger calls this inside a batch, which a throw would fail for all calls in it. */
  private describeAnswer(kept: KeptCall<K>, end: CallEnd<K>): KeptAnswer {
    try {
      return kept.describe(end);
    } catch (error) {
      this.reportFault(error);
      return kept.describeFault(toAppError(error));
    }
  }

  private onSettled(verdict: Verdict<K>, settlement: Settlement): void {
    const event = verdict.bill === null ? "uncharged" : "charged";
    if (verdict.cost !== null) this.isolate(() => this.noteCost(verdict, settlement));
    if (verdict.kind === "faulted") this.dispatch(event, { error: verdict.failure });
    else this.dispatch(event, { end: { ...verdict.end, settlement } });
  }

  private noteCost({ bill, cost }: Verdict<K>, settlement: Settlement): void {
    if (cost !== null) recordCost<K>(this.context, this, { cost, settlement, isCharged: bill !== null });
  }

  private onLost({ from }: CallStep<K>, error: unknown): void {
    // Withdraw only if the caller got nothing: a keyed request can be retried, and a stream was partly delivered.
    const { listener, kept } = this.audience;
    const isUnanswered = listener === null && kept === null && !hasHungUp(from);
    const doubtful = isUnanswered ? this.authorization.describeDoubt() : null;
    if (doubtful !== null) this.context.withdrawals.add(doubtful);
    if (listener !== null) this.context.metrics.unchargedWork.at("call").add(1);
    this.dispatch("lost", { error });
  }

  /** Ends the hold without a charge. If the release fails, the hold expires; the caller gets the original error. */
  private release({ event, detail }: CallStep<K>): void {
    const { kept } = this.audience;
    const keptEnd = kept === null ? null : { claim: kept.claim, bytes: 0, describe: () => null };
    const finish = (): void => this.dispatch(event === "refuse" ? "unheld" : "uncharged", { error: detail.error });
    this.authorization.settle(null, keptEnd).then(finish, finish);
  }

  /** Isolates each part, so `ended` settles whatever throws. */
  private finish({ end, error }: EventDetail<K>): void {
    const tokens = end === undefined ? noTokens : this.countTokens(end);
    this.leave(tokens.input + tokens.output);
    try {
      if (end !== undefined) this.recordEnd(end, tokens);
      const failure = error ?? end?.failure ?? null;
      this.span?.end(failure === null ? null : toSpanFailure(failure));
    } catch (fault) {
      this.reportFault(fault);
    }
    if (end === undefined) this.reject(error);
    else this.resolve(end);
  }

  private countTokens({ usage }: CallEnd<K>): CallTokens {
    try {
      return this.plan.countTokens(usage);
    } catch (error) {
      this.reportFault(error);
      return noTokens;
    }
  }

  /** Returns the caller's limits, corrected to the actual usage. */
  private leave(tokensUsed: number): void {
    const { counters, logger } = this.context;
    const { caller, tokensLikely } = this.plan;
    const onTrouble = (error: unknown): void => logger.warn({ error }, "limit not corrected");
    this.leaveRegistry();
    this.leaveDrainPlace();
    correctTokens(counters, caller, tokensUsed - tokensLikely).catch(onTrouble);
    returnSlot(counters, caller, this.describeSlot())?.catch(onTrouble);
  }

  private recordEnd(end: CallEnd<K>, tokens: CallTokens): void {
    const { context, plan } = this;
    if (this.state === "settled") countCharge(context.metrics, plan.modelId, { ...end.settlement, tokens });
    recordCallEnd<K>(context, this, end);
  }

  private describeSlot(): Slot {
    return { use: "request", id: this.plan.requestId, ttlMs: this.plan.terms.holdMs };
  }

  /** The upstream and the failed attempts, for operators. */
  get routed(): Routed<K> {
    return this.run;
  }

  /** The id of the call's charge in the ledger; `null` if there is none. */
  findChargeId(): string | null {
    const { holdId } = this.authorization;
    return holdId !== null && this.state === "settled" ? deriveTransactionId(holdId) : null;
  }
}

/** The cost is stored with the charge. */
function addCost<K extends CallKinds>({ bill, cost }: Verdict<K>): Bill | null {
  return bill === null || cost === null ? bill : { ...bill, items: [...bill.items, ...itemizeCost(cost)] };
}
