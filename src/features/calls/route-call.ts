import { invariant } from "../../lib/invariant.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { FailedAttempt } from "../../platform/http/request-context.ts";
import type { UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import type { Span, SpanOptions } from "../../platform/tracing/span.ts";
import { attemptsMax, type Choice, chooseTarget } from "../../providers/choose-target.ts";
import { ProviderError } from "../../providers/contract.ts";
import { isWorthAnotherTarget } from "../../providers/failures/failure-table.ts";
import type { PaceForm } from "../../providers/route-pace.ts";
import { type CallOutcome, type CallRole, describeOutcome, isBlamed } from "../../providers/upstream-health.ts";
import { findVendorRequestId } from "../../providers/vendor-request-id.ts";
import type { Routing } from "./call-context.ts";
import { presentRetry } from "./call-errors.ts";
import type { CallAttempt, CallKinds, CallPlan, CallRun, CallSink } from "./paid-endpoint.ts";
import { describeFailedAttempt, type Routed } from "./record-call.ts";
import { type RouteEvent, type RouteState, routeTable } from "./route-state.ts";

type RoutedRequest<K extends CallKinds> = Pick<
  CallPlan<K>,
  "operation" | "targets" | "callMs" | "start" | "explain" | "findAffinity"
>;

export type RoutedOrder<K extends CallKinds> = {
  request: RoutedRequest<K>;
  unitsMax: number;
  /** The parent of the attempts' spans. */
  span?: Span | null;
};

/** Receives one response, whichever upstream sends it. */
export type RoutedSink<K extends CallKinds> = Omit<CallSink<K>, "onHead" | "onError" | "onAnswer"> & {
  onAnswer(answer: K["answer"], target: K["target"]): void;
  /** Called after every failed attempt, for the operator's log. */
  onFailedAttempt(attempt: FailedAttempt, error: ProviderError): void;
  onFailure(error: AppError): void;
};

export type RoutedRun<K extends CallKinds> = CallRun &
  Routed<K> & {
    /** Tries no other target from now on: the caller has hung up. */
    stopFailover(): void;
  };

/**
 * Tries targets in turn until one answers, within the call's time. Failover ends with the first data: from then on the
 * response is that target's, however it ends.
 */
export function routeCall<K extends CallKinds>(
  routing: Routing,
  order: RoutedOrder<K>,
  sink: RoutedSink<K>,
): RoutedRun<K> {
  const routed = new RoutedCall(routing, order, sink);
  routed.tryNext(null);
  return routed;
}

/** Shared, because most calls have no failed attempt. */
const noAttempts: readonly FailedAttempt[] = [];
const noTargets: readonly never[] = [];

/** The table in `route-state.ts` decides; `step` is the only place that acts. */
class RoutedCall<K extends CallKinds> implements RoutedRun<K>, CallSink<K>, CallAttempt {
  private readonly routing: Routing;
  private readonly request: RoutedRequest<K>;
  private readonly unitsMax: number;
  private readonly sink: RoutedSink<K>;
  private readonly span: Span | null;
  private state: RouteState = "trying";
  private flow: "flowing" | "paused" = "flowing";
  failedAttempts = noAttempts;
  /** The targets of the failed attempts. */
  private tried: readonly K["target"][] = noTargets;
  /** The target of the current or last attempt. */
  target: K["target"] | null = null;
  upstreamRequestId: string | null = null;
  traceparent: string | null = null;
  remainingMs: number;
  private role: CallRole = "usual";
  private attemptSpan: Span | null = null;
  private attemptStartedMs = 0;
  private run: CallRun | null = null;

  constructor(routing: Routing, { request, unitsMax, span = null }: RoutedOrder<K>, sink: RoutedSink<K>) {
    this.routing = routing;
    this.request = request;
    this.unitsMax = unitsMax;
    this.sink = sink;
    this.span = span;
    this.remainingMs = request.callMs;
  }

  /** `lastFailure` is the last target's error, `null` before the first attempt. */
  tryNext(lastFailure: AppError | null): void {
    const choice = this.choose();
    if (choice.kind === "none") {
      this.step("exhaust", lastFailure ?? explainNoTarget(choice.retryAfterMs));
      return;
    }
    const triedBefore = this.tried.length;
    try {
      this.start(choice.target);
    } catch (cause) {
      // A missing secret, or an adapter that throws although it must not.
      const error = new ProviderError("bad-answer", "The call could not be started.", { cause });
      if (this.tried.length === triedBefore) this.onError(cause instanceof ProviderError ? cause : error);
    }
  }

  private choose(): Choice<K["target"]> {
    const { routing, request, tried } = this;
    const { health, random } = routing;
    const isSpent = tried.length > 0 && (tried.length >= attemptsMax || this.remainingMs <= 0);
    if (isSpent) return { kind: "none", retryAfterMs: null };
    return chooseTarget<K["target"]>(request.targets, { tried, waitMs: health.waitMs, random, call: request });
  }

  private start(target: K["target"]): void {
    this.target = target;
    this.upstreamRequestId = null;
    this.role = this.routing.health.begin(target);
    this.attemptSpan = this.span?.start(...describeAttempt(this.request, target, this.tried.length + 1)) ?? null;
    this.traceparent = target.provider.trace_context === true ? (this.attemptSpan?.traceparent ?? null) : null;
    this.attemptStartedMs = this.routing.clock.monotonicMs();
    this.run = this.request.start(target, this.unitsMax, this, this);
    if (this.flow === "paused") this.run.pause();
  }

  /** Moves to the next state and performs its effect; `false` if the event is ignored. */
  private step(event: RouteEvent, failure: AppError | null = null): boolean {
    const step = routeTable[this.state][event];
    if (step === null) return false;
    this.state = step.to;
    switch (step.effect) {
      case "nothing":
        break;
      case "emit-accepted":
        this.sink.onAccepted();
        break;
      case "report-answered":
        this.report(answered);
        break;
      case "try-next":
        this.tryNext(failure);
        break;
      case "emit-failure":
        invariant(failure !== null, "a call fails for a reason");
        this.sink.onFailure(failure);
        break;
      case "report-abandoned":
        this.report(abandoned);
        this.cancelAttempt();
        break;
      case "cancel":
        this.cancelAttempt();
        break;
      default:
        step.effect satisfies never;
    }
    return true;
  }

  onHead(headers: UpstreamHeaders): void {
    if (this.state === "over") return;
    const { provider, lastHead } = this.getTarget();
    this.upstreamRequestId = findVendorRequestId(headers, provider.kind);
    if (lastHead === undefined) return;
    lastHead.headers = headers;
    lastHead.atMs = this.attemptStartedMs;
  }

  onAccepted(): void {
    this.step("accept");
  }

  onPieces(deltas: readonly K["delta"][]): void {
    if (this.state !== "answering") {
      if (!this.step("data")) return;
      this.notePace("first");
      this.attemptSpan?.addEvent("first_token");
    }
    this.sink.onPieces(deltas);
  }

  onEnd(reported: K["reported"] | null): void {
    if (!this.step("finish")) return;
    this.attemptSpan?.end();
    this.sink.onEnd(reported);
  }

  onAnswer(answer: K["answer"]): void {
    const hasPieces = this.state === "answering";
    if (!this.step("finish")) return;
    if (!hasPieces) this.notePace("whole");
    this.attemptSpan?.end();
    this.sink.onAnswer(answer, this.getTarget());
  }

  onError(error: ProviderError): void {
    if (this.state === "over") return;
    this.noteFailure(this.getTarget(), error);
    const outcome = describeOutcome(error);
    if (isBlamed(outcome)) this.target?.pace?.noteFailure(this.routing.clock.monotonicMs());
    this.report(outcome);
    this.step(isWorthAnotherTarget(error) ? "fail" : "refuse", this.explain(error));
  }

  /** Adapters call this from their event handlers, where a throw would end the process. */
  private explain(error: ProviderError): AppError {
    try {
      return this.request.explain(error);
    } catch (cause) {
      return new AppError("internal_error", "The gateway failed to process this request.", { cause });
    }
  }

  private noteFailure(target: K["target"], error: ProviderError): void {
    const durationMs = this.routing.clock.monotonicMs() - this.attemptStartedMs;
    this.remainingMs -= durationMs;
    const { upstreamRequestId } = this;
    const attempt = describeFailedAttempt(target, { error, durationMs, upstreamRequestId });
    this.failedAttempts = [...this.failedAttempts, attempt];
    this.tried = [...this.tried, target];
    this.attemptSpan?.set({ "http.response.status_code": attempt.status ?? undefined });
    this.attemptSpan?.end({ errorType: error.kind });
    this.sink.onFailedAttempt(attempt, error);
  }

  /** Only for models with a routing policy. */
  private notePace(form: PaceForm): void {
    const pace = this.target?.pace;
    if (pace === undefined) return;
    const nowMs = this.routing.clock.monotonicMs();
    pace.noteAnswer(form, nowMs - this.attemptStartedMs, nowMs);
  }

  private report(outcome: CallOutcome): void {
    this.routing.health.report(this.getTarget(), outcome, this.role);
  }

  private getTarget(): K["target"] {
    invariant(this.target !== null, "no upstream was asked");
    return this.target;
  }

  pause(): void {
    this.flow = "paused";
    this.run?.pause();
  }

  resume(): void {
    this.flow = "flowing";
    this.run?.resume();
  }

  stopFailover(): void {
    this.step("stop-failover");
  }

  cancel(): void {
    this.step("cancel");
  }

  private cancelAttempt(): void {
    this.attemptSpan?.set({ "sluice.canceled": true });
    this.attemptSpan?.end();
    this.run?.cancel();
  }
}

function describeAttempt<K extends CallKinds>(
  { operation }: RoutedRequest<K>,
  { providerId, upstreamModel, keyNumber }: K["target"],
  number: number,
): [name: string, options: SpanOptions] {
  const attributes = {
    "gen_ai.operation.name": operation.name,
    "gen_ai.provider.name": providerId,
    "gen_ai.request.model": upstreamModel,
    "sluice.attempt.number": number,
    "sluice.upstream.key_number": keyNumber,
  };
  return [`${operation.name} ${upstreamModel}`, { kind: "client", attributes }];
}

const answered = { kind: "answered" } as const;
const abandoned = { kind: "abandoned" } as const;

function explainNoTarget(retryAfterMs: number | null): AppError {
  return new AppError("model_unroutable", "Nothing can serve this model at the moment.", {
    param: "model",
    headers: presentRetry(retryAfterMs),
  });
}
