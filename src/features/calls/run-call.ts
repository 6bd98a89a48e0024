import type { Bill } from "../../lib/bill.ts";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { presentMoney } from "../../lib/money.ts";
import type { Registry } from "../../lib/registry.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { SeenLimits } from "../../platform/http/request-context.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Span, SpanOptions } from "../../platform/tracing/span.ts";
import { toSpanFailure } from "../../platform/tracing/to-span-failure.ts";
import type { ProviderError } from "../../providers/contract.ts";
import type { Claim, KeptAnswer } from "../idempotency/index.ts";
import { deriveTransactionId, type Ledger } from "../ledger/index.ts";
import { correctTokens, returnSlot, type Slot } from "../limits/index.ts";
import { type Admission, type AdmissionContext, admitCall, type KeyedRequest } from "./admit-call.ts";
import { Authorization, type AuthorizationListener } from "./authorize-call.ts";
import { type CallEvent, type CallState, canFollow, decideHangUp, decideTransition, hasHungUp } from "./call.ts";
import { type CallMetrics, countCharge } from "./call-metrics.ts";
import type { DrainedCalls } from "./drained-calls.ts";
import type { CallEnd, CallKinds, CallPlan, Settlement, StoppedBy } from "./paid-endpoint.ts";
import type { PendingHolds } from "./pending-holds.ts";
import { type RoutedRun, type RoutedSink, type Routing, routeCall } from "./route-call.ts";
import type { Withdrawals } from "./withdrawals.ts";

/** What all calls share. */
export type CallContext = AdmissionContext & {
  clock: Clock;
  ids: IdSource;
  ledger: Ledger;
  currency: string;
  pending: PendingHolds;
  drainedCalls: DrainedCalls;
  withdrawals: Withdrawals;
  routing: Routing;
  logger: Logger;
  metrics: CallMetrics;
  /** The calls that are under way. */
  running: Registry<RunningCall>;
};

/** A call as far as those must know it who end it from outside. */
export type RunningCall = {
  /** Settled when it is over. Rejects when nothing was answered: then nothing is charged either. */
  ended: Promise<unknown>;
  /** The gateway cannot go on: as if the upstream had failed. */
  stop(failure: AppError): void;
};

/** Hears of a streamed answer while it comes. Nothing is heard before the call is authorized. */
export type CallListener<K extends CallKinds> = {
  onAccepted(): void;
  /** Answers whether more can be taken at once; if not, `resume` says when. */
  onPieces(deltas: readonly K["delta"][]): boolean;
  /** Money did not suffice for more. */
  onExhausted(): void;
};

/** Who the answer is for. */
export type CallAudience<K extends CallKinds> = {
  /** `null` where the answer is not streamed. */
  listener: CallListener<K> | null;
  /** The claim of a call with a key, and the answer that is kept under it: about how large it is, and what it is. */
  kept: { claim: Claim; bytes(): number; describe(end: CallEnd<K>): KeptAnswer } | null;
};

type Outcome<K extends CallKinds> = {
  answer?: K["answer"];
  reported?: K["reported"] | null;
  failure?: AppError;
  stoppedBy?: StoppedBy;
};

/**
 * How long a hold that nobody waits for leaves the processor to the request. Written at once, it kept the request from
 * its upstream for 0.4 ms on a small machine. An answer that comes earlier has its hold and its end written together.
 */
const openAfterMs = 1;

/**
 * One paid call, from its admission to its settlement. `call.ts` decides what follows what; this is the one place where
 * it is done. Where money is plenty the upstream is called first, and the hold is written while it works; what the
 * upstream says is held back until the hold is durable.
 */
export class PaidCall<K extends CallKinds> implements RunningCall, RoutedSink<K>, AuthorizationListener {
  readonly plan: CallPlan<K>;
  readonly ended: Promise<CallEnd<K>>;
  private readonly context: CallContext;
  private readonly authorization: Authorization;
  private readonly span: Span | null;
  private readonly resolve: (end: CallEnd<K>) => void;
  private readonly reject: (error: unknown) => void;
  private state: CallState = "received";
  private audience: CallAudience<K> = { listener: null, kept: null };
  private run: RoutedRun<K> | null = null;
  private opening: Promise<void> | null = null;
  private openTimer: NodeJS.Timeout | null = null;
  /** What came before the money for it was on hold. */
  private heldBack: (() => void)[] | null = null;
  private isCallerSlow = false;
  private leaveRegistry: (() => void) | null = null;
  private leaveDrainPlace: (() => void) | null = null;

  /** `parent` is the span of the request, where that is traced. */
  constructor(context: CallContext, plan: CallPlan<K>, parent: Span | null = null) {
    const { promise, resolve, reject } = Promise.withResolvers<CallEnd<K>>();
    this.context = context;
    this.plan = plan;
    this.span = parent?.start(...describeCall(plan)) ?? null;
    this.authorization = new Authorization(context, plan, this.span);
    this.ended = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Takes the call into the caller's limits and claims its key. Throws where a limit does not allow it. */
  async admit(keyed: KeyedRequest | null, seen: SeenLimits | undefined): Promise<Admission> {
    const { caller, requestId, tokensLikely } = this.plan;
    const { holdId } = this.authorization;
    const call = { caller, requestId, holdId, demand: { tokens: tokensLikely, slot: this.describeSlot() } };
    try {
      const admission = await admitCall(this.context, call, { keyed, seen });
      this.move(admission.kind === "admitted" ? "admit" : "replay");
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

  /** Begins to answer an admitted call. */
  start(audience: CallAudience<K>): void {
    this.audience = audience;
    this.leaveRegistry = this.context.running.add(this);
    if (!this.authorization.canAuthorizeOptimistically()) {
      this.authorize();
      return;
    }
    this.send(this.plan.terms.unitsMax);
    if (this.opening === null) this.openTimer = setTimeout(authorizeNow, openAfterMs, this);
  }

  /** Has the money put on hold, unless that has been asked for already. */
  authorize(): Promise<void> {
    if (this.opening !== null) return this.opening;
    if (this.openTimer !== null) clearTimeout(this.openTimer);
    this.opening = this.authorization.open();
    this.opening.then(() => this.onAuthorized()).catch((error: unknown) => this.refuse(error));
    return this.opening;
  }

  private onAuthorized(): void {
    // The answer may have come first, and be settled together with its hold.
    if (this.state === "admitted") this.move("authorize");
    this.goOn();
    // What the account can pay for is known only now.
    if (this.run === null && this.state === "authorized") this.send(this.authorization.decideUnitsAllowed());
  }

  /** There is no money for the call, or nobody knows whether there is. */
  private refuse(error: unknown): void {
    if (this.state !== "admitted") {
      // A settlement that waits for the hold hears of it by itself.
      this.fail(toAppError(error));
      return;
    }
    this.move("refuse");
    this.run?.cancel();
    this.release(error);
  }

  private send(unitsMax: number): void {
    const { plan } = this;
    plan.meter.begin(unitsMax);
    this.run = routeCall<K>(this.context.routing, { request: plan, unitsMax, span: this.span }, this);
  }

  private move(event: CallEvent) {
    const transition = decideTransition(this.state, event);
    this.state = transition.to;
    return transition;
  }

  private canGoOn(): boolean {
    return this.state !== "admitted" && !this.authorization.isShort();
  }

  private holdBack(action: () => void): void {
    this.heldBack ??= [];
    this.heldBack.push(action);
  }

  /** Whatever waits, waits for the hold or for more of it. */
  private whenAuthorized(action: () => void): void {
    if (this.canGoOn()) {
      action();
      return;
    }
    this.holdBack(action);
    this.authorize();
  }

  private goOn(): void {
    while (this.heldBack !== null && this.canGoOn()) {
      const action = this.heldBack.shift();
      if (action === undefined) break;
      action();
    }
    if (this.canGoOn() && !this.isCallerSlow) this.run?.resume();
  }

  onAccepted(): void {
    if (this.canGoOn()) {
      this.accept();
      return;
    }
    this.holdBack(() => this.accept());
    // A non-streaming answer is near, and its hold can be written together with its end.
    if (this.audience.listener !== null) this.authorize();
  }

  private accept(): void {
    if (!canFollow(this.state, "accept")) return;
    this.move("accept");
    if (!hasHungUp(this.state)) this.audience.listener?.onAccepted();
    else if (this.plan.meter.isCostKnown(true)) this.breakOff("leave");
  }

  onPieces(deltas: readonly K["delta"][]): void {
    if (this.canGoOn()) {
      this.deliver(deltas);
      return;
    }
    this.run?.pause();
    this.holdBack(() => this.deliver(deltas));
    this.authorize();
  }

  private deliver(deltas: readonly K["delta"][]): void {
    if (!canFollow(this.state, "deliver")) return;
    this.move("deliver");
    const count = this.plan.meter.take(deltas, this.authorization);
    const { listener } = this.audience;
    if (count > 0 && listener !== null && !hasHungUp(this.state)) {
      if (!listener.onPieces(count === deltas.length ? deltas : deltas.slice(0, count))) {
        this.isCallerSlow = true;
        this.run?.pause();
      }
    }
    this.watchHold();
    // The rest waits for more on hold. Where there is none, the answer has ended, and what comes after its end is nobody's.
    if (count === deltas.length || !this.authorization.isShort()) return;
    this.heldBack ??= [];
    this.heldBack.unshift(() => this.deliver(deltas.slice(count)));
  }

  private watchHold(): void {
    if (!canFollow(this.state, "exhaust")) return;
    const verdict = this.authorization.watch(this);
    if (verdict === "wait") this.run?.pause();
    // An answer that has ended by itself needs no end from us.
    else if (verdict === "stop" && !this.plan.meter.isComplete()) this.exhaust();
  }

  private exhaust(): void {
    this.run?.cancel();
    if (!hasHungUp(this.state)) this.audience.listener?.onExhausted();
    this.conclude("exhaust", { stoppedBy: "insufficient_balance" });
  }

  onExtended(): void {
    this.watchHold();
    this.goOn();
  }

  onExtensionFailure(error: unknown): void {
    this.fail(toAppError(error));
  }

  onEnd(reported: K["reported"] | null): void {
    this.whenAuthorized(() => this.conclude("answer", { reported }));
  }

  onAnswer(answer: K["answer"]): void {
    // The ledger keeps the order, so that the end of a hold can be written together with its beginning.
    if (!canFollow(this.state, "answer")) return;
    const reported = this.plan.meter.takeAnswer(answer);
    this.conclude("answer", { answer, reported });
  }

  onFailedAttempt(target: K["target"], error: ProviderError): void {
    this.context.logger.warn({ ...this.describeUpstream(target), error }, "upstream failed");
  }

  onFailure(failure: AppError): void {
    this.whenAuthorized(() => this.fail(failure));
  }

  private fail(failure: AppError): void {
    if (!canFollow(this.state, "fail")) return;
    this.run?.cancel();
    this.conclude("fail", { failure });
  }

  resume(): void {
    this.isCallerSlow = false;
    this.goOn();
  }

  /**
   * The caller is gone: the upstream is stopped, and what it has written is charged, or it is read to its end where only
   * its end tells what it has cost.
   */
  hangUp(): void {
    if (this.state === "admitted") {
      this.whenAuthorized(() => this.hangUp());
      return;
    }
    if (!canFollow(this.state, "drain")) return;
    const event = decideHangUp({
      isSent: this.run !== null,
      isCostKnown: this.plan.meter.isCostKnown(this.state !== "authorized"),
      hasDrainPlace: () => this.takeDrainPlace(),
    });
    if (event !== "drain") {
      this.breakOff(event);
      return;
    }
    this.move("drain");
    this.run?.stopFailover();
    this.resume();
  }

  private takeDrainPlace(): boolean {
    this.leaveDrainPlace = this.context.drainedCalls.take(this.plan.caller.accountId);
    return this.leaveDrainPlace !== null;
  }

  private breakOff(event: "leave" | "forfeit"): void {
    this.run?.cancel();
    this.conclude(event, {});
  }

  stop(failure: AppError): void {
    if (this.state === "admitted") this.whenAuthorized(() => this.stop(failure));
    else this.fail(failure);
  }

  /** Decides what is charged, and writes it. From here on nothing changes it. */
  private conclude(event: CallEvent, { answer, reported = null, failure, stoppedBy }: Outcome<K>): void {
    if (!canFollow(this.state, event)) return;
    const isAuthorized = this.state !== "admitted";
    const isHungUp = hasHungUp(this.state) || event === "leave" || event === "forfeit";
    const { charge } = this.move(event);
    if (charge === "nothing" && failure !== undefined) {
      this.release(failure);
      return;
    }
    const unitsHeld = this.authorization.unitsHeld();
    const rule = charge ?? "nothing";
    const concluded = this.plan.meter.conclude(rule, { reported, unitsHeld, hasHungUp: isHungUp });
    const { usage, isDue } = concluded;
    const end = {
      answer: answer ?? null,
      usage,
      stoppedBy: stoppedBy ?? concluded.stoppedBy,
      failure: failure ?? null,
      hasHungUp: isHungUp,
    };
    // The ledger keeps the order: first the hold, then its end.
    const opening = this.authorize();
    const settling = this.settle(isDue ? this.plan.bill(usage) : null, end);
    const complete = (settlement: Settlement): void => this.complete({ ...end, settlement }, isDue);
    const lose = (error: unknown): void => this.lose(error, isHungUp);
    if (isAuthorized) {
      settling.then(complete, lose);
      return;
    }
    // Where the hold was refused, that is the reason why nothing could be settled.
    settling.catch(() => {});
    opening.then(() => settling).then(complete, lose);
  }

  private settle(bill: Bill | null, end: Omit<CallEnd<K>, "settlement"> | null): Promise<Settlement> {
    const { authorization } = this;
    const { kept } = this.audience;
    if (kept === null) return authorization.settle(bill, null);
    const { claim, bytes, describe } = kept;
    return authorization.settle(bill, {
      ...{ claim, bytes: bytes() },
      describe: (settlement) => (end === null ? null : describe({ ...end, settlement })),
    });
  }

  private complete(end: CallEnd<K>, isDue: boolean): void {
    const { plan, context } = this;
    const { lost } = end.settlement;
    this.move(isDue ? "charged" : "uncharged");
    const tokens = plan.countTokens(end.usage);
    this.leaveAll(tokens.input + tokens.output);
    if (isDue) countCharge(context.metrics, plan.modelId, { ...end.settlement, tokens });
    if (lost > 0n) {
      const target = this.run?.target ?? null;
      const upstream = target === null ? this.describe() : this.describeUpstream(target);
      const fields = { ...upstream, ...plan.describeUsage(end.usage), lost: presentMoney(lost) };
      context.logger.error(fields, "an upstream used more than it was allowed, and the balance did not cover it");
    }
    if (this.span !== null) this.endSpan(this.span, end);
    this.resolve(end);
  }

  /** Nothing was answered. A hold that cannot be released now ends by itself: the caller hears of the first error. */
  private release(error: unknown): void {
    this.settle(null, null)
      .catch(() => {})
      .finally(() => {
        if (canFollow(this.state, "uncharged")) this.move("uncharged");
        this.leaveAll(0);
        this.span?.end(toSpanFailure(error));
        this.reject(error);
      });
  }

  private endSpan(span: Span, { usage, failure, stoppedBy, hasHungUp, settlement }: CallEnd<K>): void {
    span.set({
      "gen_ai.response.model": this.run?.target?.upstreamModel,
      ...this.plan.describeSpan(usage),
      "sluice.charge": presentMoney(settlement.charge),
      "sluice.stopped_by": stoppedBy ?? undefined,
      "sluice.hung_up": hasHungUp ? true : undefined,
    });
    span.end(failure === null ? null : toSpanFailure(failure));
  }

  private lose(error: unknown, isHungUp: boolean): void {
    this.move("lost");
    // With a key the same request is answered once more, and of a stream the caller has had something.
    const { listener, kept } = this.audience;
    const doubtful = listener === null && kept === null && !isHungUp ? this.authorization.describeDoubt() : null;
    if (doubtful !== null) this.context.withdrawals.add(doubtful);
    this.leaveAll(0);
    this.span?.end(toSpanFailure(error));
    this.reject(error);
  }

  /** Gives back what the call took of the caller's limits, and tells them what it really used. */
  private leaveAll(tokensUsed: number): void {
    const { counters, logger } = this.context;
    const { caller, tokensLikely } = this.plan;
    const onTrouble = (error: unknown): void => logger.warn({ error }, "a limit could not be corrected");
    this.leaveRegistry?.();
    this.leaveDrainPlace?.();
    correctTokens(counters, caller, tokensUsed - tokensLikely).catch(onTrouble);
    returnSlot(counters, caller, this.describeSlot())?.catch(onTrouble);
  }

  private describeSlot(): Slot {
    return { use: "request", id: this.plan.requestId, ttlMs: this.plan.terms.holdMs };
  }

  /** What the ledger calls its charge; `null` while there is none, and where nothing was to be charged. */
  findChargeId(): string | null {
    const { holdId } = this.authorization;
    return holdId !== null && this.state === "settled" ? deriveTransactionId(holdId) : null;
  }

  /** The fields of every line of the log that is about this call. */
  describe(): Record<string, unknown> {
    const { requestId, caller, modelId } = this.plan;
    return { request_id: requestId, account_id: caller.accountId, key_id: caller.keyId, model: modelId };
  }

  private describeUpstream({ providerId, upstreamModel, keyNumber }: K["target"]): Record<string, unknown> {
    return { ...this.describe(), upstream: providerId, upstream_model: upstreamModel, upstream_key: keyNumber };
  }
}

function describeCall<K extends CallKinds>({
  operation,
  modelId,
  caller,
  presenter,
}: CallPlan<K>): [name: string, options: SpanOptions] {
  const attributes = {
    "gen_ai.operation.name": operation.name,
    "gen_ai.output.type": operation.outputType ?? undefined,
    "gen_ai.request.model": modelId,
    "gen_ai.request.stream": presenter.form !== "whole",
    "sluice.account.id": caller.accountId,
    "sluice.key.id": caller.keyId,
  };
  return [`${operation.name} ${modelId}`, { attributes }];
}

function authorizeNow<K extends CallKinds>(call: PaidCall<K>): void {
  call.authorize();
}

function toAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError("internal_error", "Something in the gateway went wrong. Report it with the request_id.", {
    cause,
  });
}
