import type { Bill } from "../../lib/bill.ts";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { presentMoney } from "../../lib/money.ts";
import type { Registry } from "../../lib/registry.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { FailedAttempt, SeenLimits } from "../../platform/http/request-context.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Span, SpanOptions } from "../../platform/tracing/span.ts";
import { toSpanFailure } from "../../platform/tracing/to-span-failure.ts";
import type { ProviderError } from "../../providers/contract.ts";
import type { Claim, KeptAnswer } from "../idempotency/index.ts";
import { deriveTransactionId, type Ledger } from "../ledger/index.ts";
import { correctTokens, returnSlot, type Slot } from "../limits/index.ts";
import { type Admission, type AdmissionContext, admitCall, type KeyedRequest } from "./admit-call.ts";
import { Authorization, type AuthorizationListener, type KeptEnd } from "./authorize-call.ts";
import {
  type CallEffect,
  type CallEvent,
  type CallState,
  type ChargeRule,
  decideHangUp,
  decideTransition,
  hasHungUp,
  isHoldingBack,
} from "./call.ts";
import { type CallMetrics, countCharge } from "./call-metrics.ts";
import { presentAttempt } from "./describe-attempt.ts";
import type { DrainedCalls } from "./drained-calls.ts";
import type { CallEnd, CallKinds, CallPlan, CallTokens, Settlement, StoppedBy } from "./paid-endpoint.ts";
import { type RoutedRun, type RoutedSink, type Routing, routeCall } from "./route-call.ts";
import type { UpstreamNotices } from "./upstream-notices.ts";
import type { Withdrawals } from "./withdrawals.ts";

/** What all calls share. */
export type CallContext = AdmissionContext & {
  clock: Clock;
  ids: IdSource;
  ledger: Ledger;
  currency: string;
  drainedCalls: DrainedCalls;
  withdrawals: Withdrawals;
  notices: UpstreamNotices;
  routing: Routing;
  logger: Logger;
  metrics: CallMetrics;
  /** The calls that are under way. */
  running: Registry<RunningCall>;
};

/** What others may do with a call that is under way. */
export type RunningCall = {
  /** Resolves when the call is over. Rejects when it was not answered. */
  ended: Promise<unknown>;
  /** The gateway shuts down: ends the call as if the upstream had failed. */
  stop(failure: AppError): void;
};

/** Receives a streamed answer. Nothing arrives before the call is authorized. */
export type CallListener<K extends CallKinds> = {
  onAccepted(): void;
  /** Returns false when the caller's buffer is full; `resume` says when it has room. */
  onPieces(deltas: readonly K["delta"][]): boolean;
  /** The answer ends here, before the upstream's end. */
  onCut(stoppedBy: StoppedBy | null): void;
};

/** Who gets the answer. */
export type CallAudience<K extends CallKinds> = {
  /** `null` for a whole answer. */
  listener: CallListener<K> | null;
  /** The claim of a call with an idempotency key, and the answer to store under it. */
  kept: KeptCall<K> | null;
};

type KeptCall<K extends CallKinds> = {
  claim: Claim;
  /** About how large the stored answer is. */
  bytes(): number;
  describe(end: CallEnd<K>): KeptAnswer;
  /** What is stored for a call that was charged and could not be answered. */
  describeFault(failure: AppError): KeptAnswer;
};

/** What an event carries. */
type EventDetail<K extends CallKinds> = {
  deltas?: readonly K["delta"][];
  answer?: K["answer"];
  reported?: K["reported"] | null;
  /** Why the call ends, where its caller is answered with an error. */
  error?: unknown;
  /** How a call ended whose hold is over. */
  end?: CallEnd<K>;
};

type HeldEvent<K extends CallKinds> = { event: CallEvent; detail: EventDetail<K> };

/** A transition that is being performed. */
type Step<K extends CallKinds> = {
  event: CallEvent;
  from: CallState;
  charge: ChargeRule | null;
  detail: EventDetail<K>;
};

/** What is charged: for an answer, or for a call that ended in a fault of ours. */
type Verdict<K extends CallKinds> =
  | { kind: "answered"; bill: Bill | null; end: Omit<CallEnd<K>, "settlement"> }
  | { kind: "faulted"; bill: Bill | null; failure: AppError };

/**
 * How long the hold of an optimistic start waits, so that the request leaves first. Opened at once, the hold delayed the
 * request by 0.4 ms on a small machine. An answer that comes earlier has hold and charge written together.
 */
const openAfterMs = 1;

const noDetail = {};
const noTokens: CallTokens = { input: 0, output: 0 };
const unsent: RoutedRun<never> = {
  ...{ target: null, failedAttempts: [] },
  ...{ pause: () => {}, resume: () => {}, cancel: () => {}, stopFailover: () => {} },
};
const noPlace = (): void => {};

/**
 * One paid call, from its admission to its settlement. The table in `call.ts` decides; `perform` is the one place that acts.
 * Each effect is isolated: when one throws, the rest of the transition still happens and the call gets the event `fault`, so
 * that no exception leaves a hold open or `ended` pending.
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
  private run: RoutedRun<K> = unsent;
  /** Upstream events that wait for the hold, in order. */
  private readonly heldBack: HeldEvent<K>[] = [];
  private callerBuffer: "free" | "full" = "free";
  private leaveRegistry: () => void = noPlace;
  private leaveDrainPlace: () => void = noPlace;

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

  /** Begins to answer an admitted call. */
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

  /** Resolves when the hold is open; rejects with the reason when it is refused. */
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
    this.context.logger.warn({ ...this.describe(), ...presentAttempt(attempt), error }, "upstream failed");
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
    this.dispatch("stop", { error });
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

  /** Code of the gateway threw: reports it, and ends a call that is still under way. */
  private onFault(cause: unknown): void {
    this.reportFault(cause);
    // A call without a verdict on its money keeps its way to one; any other event of this state could throw again.
    if (decideTransition(this.state, "fault") === "impossible") return;
    this.dispatch("fault", { error: toAppError(cause) });
  }

  private reportFault(error: unknown): void {
    const { context, plan } = this;
    context.metrics.callFaults.at(plan.modelId).add(1);
    context.logger.error({ ...this.describe(), state: this.state, error }, "paid call failed inside the gateway");
  }

  private perform(effect: CallEffect, step: Step<K>): void {
    switch (effect) {
      case "open-hold":
        void this.authorize();
        return;
      case "open-hold-soon":
        this.authorization.openSoon(openAfterMs, () => void this.authorize());
        return;
      case "open-hold-for-stream":
        if (this.audience.listener !== null) void this.authorize();
        return;
      case "send":
        this.send();
        return;
      case "hold-back":
        this.heldBack.push(step);
        return;
      case "go-on":
        this.goOn();
        return;
      case "pause-upstream":
        this.run.pause();
        return;
      case "cancel-upstream":
        this.run.cancel();
        return;
      case "announce":
        this.audience.listener?.onAccepted();
        return;
      case "deliver":
        this.deliver(step.detail.deltas ?? []);
        return;
      case "cut-short":
        this.audience.listener?.onCut(explainCut(step.event));
        return;
      case "judge-hang-up":
        this.judgeHangUp();
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

  /** What the account can pay for is known only once the hold is open. */
  private send(): void {
    const { plan, state } = this;
    // A stop that waited for the hold has ended the call already.
    if (state !== "racing" && state !== "authorized") return;
    const unitsMax = state === "racing" ? plan.terms.unitsMax : this.authorization.decideUnitsAllowed();
    plan.meter.begin(unitsMax);
    this.run = routeCall<K>(this.context.routing, { request: plan, unitsMax, span: this.span }, this);
  }

  private goOn(): void {
    while (!isHoldingBack(this.state)) {
      const held = this.heldBack.shift();
      if (held === undefined) break;
      this.dispatch(held.event, held.detail);
    }
    this.readOn();
  }

  private readOn(): void {
    if (!isHoldingBack(this.state) && this.callerBuffer === "free") this.run.resume();
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
    // What is not covered waits for the extension. Without one the answer is over, and the rest is dropped.
    if (count < deltas.length && isHoldingBack(this.state)) {
      this.heldBack.unshift({ event: "pieces", detail: { deltas: deltas.slice(count) } });
    }
  }

  private watchHold(): void {
    const verdict = this.authorization.watch(this);
    if (verdict === "wait") this.dispatch("run-short");
    // An answer whose end has been written needs no other.
    else if (verdict === "stop" && !this.plan.meter.isComplete()) this.dispatch("exhaust");
    else this.dispatch("cover");
  }

  /** After a hang-up the caller's buffer no longer slows the upstream. */
  private judgeHangUp(): void {
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

  /** Decides the charge and writes it. Nothing changes it afterwards. */
  private settle(step: Step<K>): void {
    const verdict = this.decideCharge(step);
    // The ledger keeps the order: first the hold, then its end.
    const opening = this.authorize();
    const settling = this.authorization.settle(verdict.bill, this.describeKept(verdict));
    // An answer that came before its hold: where the hold is refused, that is why nothing could be settled.
    const settled = step.from === "racing" ? opening.then(() => settling) : settling;
    if (settled !== settling) settling.catch(() => {});
    settled.then(
      (settlement) => this.onSettled(verdict, settlement),
      (error: unknown) => this.onLost(step, error),
    );
  }

  private decideCharge({ charge, event, from, detail }: Step<K>): Verdict<K> {
    const { meter } = this.plan;
    const isHungUp = hasHungUp(from);
    try {
      const { answer = null, reported = null } =
        detail.answer === undefined ? { reported: detail.reported } : meter.takeAnswer(detail.answer);
      if (event === "fault") return this.decideFault(charge, toAppError(detail.error), reported);
      const unitsHeld = this.authorization.unitsHeld();
      const concluded = meter.conclude(charge ?? "nothing", { reported, unitsHeld, hasHungUp: isHungUp });
      const { usage, isDue } = concluded;
      const end = {
        answer,
        usage,
        stoppedBy: explainCut(event) ?? concluded.stoppedBy,
        failure: detail.error === undefined ? null : toAppError(detail.error),
        hasHungUp: isHungUp,
      };
      return { kind: "answered", bill: isDue ? this.plan.bill(usage) : null, end };
    } catch (error) {
      this.reportFault(error);
      return this.decideFault(charge, toAppError(error), detail.reported ?? null);
    }
  }

  /** Reported usage, else the hold; the whole hold where even that cannot be computed: the upstream did its work. */
  private decideFault(charge: ChargeRule | null, failure: AppError, reported: K["reported"] | null): Verdict<K> {
    if (charge === null || charge === "nothing") return { kind: "faulted", bill: null, failure };
    try {
      const unitsHeld = this.authorization.unitsHeld();
      const { usage } = this.plan.meter.conclude("reported-or-hold", { reported, unitsHeld, hasHungUp: false });
      return { kind: "faulted", bill: this.plan.bill(usage), failure };
    } catch (error) {
      this.reportFault(error);
      return { kind: "faulted", bill: this.authorization.billHold(), failure };
    }
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

  /** The ledger asks for this in the middle of a batch, which a throw would take down. */
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
    if (verdict.kind === "faulted") this.dispatch(event, { error: verdict.failure });
    else this.dispatch(event, { end: { ...verdict.end, settlement } });
  }

  private onLost({ from }: Step<K>, error: unknown): void {
    // With a key the same request is answered once more, and of a stream the caller has had something.
    const { listener, kept } = this.audience;
    const isUnanswered = listener === null && kept === null && !hasHungUp(from);
    const doubtful = isUnanswered ? this.authorization.describeDoubt() : null;
    if (doubtful !== null) this.context.withdrawals.add(doubtful);
    if (listener !== null) this.context.metrics.unchargedWork.at("call").add(1);
    this.dispatch("lost", { error });
  }

  /** Ends the hold without a charge. A hold that cannot be released now expires: the caller gets the first error. */
  private release({ event, detail }: Step<K>): void {
    const { kept } = this.audience;
    const keptEnd = kept === null ? null : { claim: kept.claim, bytes: 0, describe: () => null };
    const finish = (): void => this.dispatch(event === "refuse" ? "unheld" : "uncharged", { error: detail.error });
    this.authorization.settle(null, keptEnd).then(finish, finish);
  }

  /** Each part is isolated, so that the call's caller is answered whatever throws. */
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

  /** Returns what the call took of the caller's limits, corrected to what it used. */
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
    const { plan, context, span } = this;
    const { usage, settlement, stoppedBy } = end;
    if (this.state === "settled") countCharge(context.metrics, plan.modelId, { ...settlement, tokens });
    if (settlement.lost > 0n) {
      const { target } = this.run;
      const upstream = target === null ? this.describe() : this.describeUpstream(target);
      const fields = { ...upstream, ...plan.describeUsage(usage), lost: presentMoney(settlement.lost) };
      context.logger.error(fields, "an upstream used more than was on hold");
    }
    const notice = plan.findNotice?.(usage) ?? null;
    const { target } = this.run;
    if (notice !== null && target !== null) {
      context.notices.warn(target, notice, { ...this.describeUpstream(target), ...plan.describeUsage(usage) });
    }
    span?.set({
      "gen_ai.response.model": this.run.target?.upstreamModel,
      ...plan.describeSpan(usage),
      "sluice.charge": presentMoney(settlement.charge),
      "sluice.stopped_by": stoppedBy ?? undefined,
      "sluice.hung_up": end.hasHungUp ? true : undefined,
    });
  }

  private describeSlot(): Slot {
    return { use: "request", id: this.plan.requestId, ttlMs: this.plan.terms.holdMs };
  }

  /** Who was asked, for operators. */
  get routed(): Pick<RoutedRun<K>, "target" | "failedAttempts"> {
    return this.run;
  }

  /** The id of the call's charge in the ledger; `null` while there is none, and where nothing was charged. */
  findChargeId(): string | null {
    const { holdId } = this.authorization;
    return holdId !== null && this.state === "settled" ? deriveTransactionId(holdId) : null;
  }

  /** The fields of every log line about this call. */
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

/** Why an answer ends early; `null` where its cap ended it. */
function explainCut(event: CallEvent): StoppedBy | null {
  return event === "exhaust" ? "insufficient_balance" : null;
}

function toAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError("internal_error", "The gateway failed to process this request. Report it with the request_id.", {
    cause,
  });
}
