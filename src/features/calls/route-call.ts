import { invariant } from "../../lib/invariant.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Span, SpanOptions } from "../../platform/tracing/span.ts";
import { attemptsMax, chooseTarget } from "../../providers/choose-target.ts";
import { ProviderError } from "../../providers/contract.ts";
import { isWorthAnotherTarget } from "../../providers/failures/failure-table.ts";
import { type CallRole, describeOutcome, type UpstreamHealth } from "../../providers/upstream-health.ts";
import { presentRetry } from "./explain-upstream-fault.ts";
import type { CallKinds, CallPlan, CallRun, CallSink } from "./paid-endpoint.ts";

export type Routing = { health: UpstreamHealth; random(): number };

/** What is sent, and where it can go. */
type RoutedRequest<K extends CallKinds> = Pick<
  CallPlan<K>,
  "operation" | "targets" | "start" | "explain" | "findAffinity"
>;

export type RoutedOrder<K extends CallKinds> = {
  request: RoutedRequest<K>;
  unitsMax: number;
  /** Of what it is sent for; each attempt has a span of its own within it. */
  span?: Span | null;
};

/** Hears of one answer, whichever upstream gives it. */
export type RoutedSink<K extends CallKinds> = Omit<CallSink<K>, "onError" | "onAnswer"> & {
  onAnswer(answer: K["answer"], target: K["target"]): void;
  /** Told of every failed attempt, for the operator's log. */
  onFailedAttempt(target: K["target"], error: ProviderError): void;
  onFailure(error: AppError): void;
};

/** A call that is under way, whichever upstream it is sent to. */
export type RoutedRun<K extends CallKinds> = CallRun & {
  /** The one that answers, or was asked last. */
  readonly target: K["target"] | null;
  /** From now on no other target is tried: nobody waits for an answer. */
  stopFailover(): void;
};

/**
 * Sends a call to one target after another until one answers. The first data decides: from then on the answer is that
 * target's, however it ends.
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

/**
 * | state       | what is true                                                             |
 * |-------------|--------------------------------------------------------------------------|
 * | `asking`    | a target is asked; if it fails, the next one is                            |
 * | `last`      | a target is asked, and it is the last: nobody waits for an answer          |
 * | `answering` | data has come: no other target is tried                                    |
 * | `over`      | ended, failed or cancelled: nothing more is heard                          |
 */
type RouteState = "asking" | "last" | "answering" | "over";

class RoutedCall<K extends CallKinds> implements RoutedRun<K>, CallSink<K> {
  private readonly routing: Routing;
  private readonly request: RoutedRequest<K>;
  private readonly unitsMax: number;
  private readonly sink: RoutedSink<K>;
  private readonly span: Span | null;
  /** Of the attempt that is under way, or was last. */
  private attempt: Span | null = null;
  private tried: readonly K["target"][] = [];
  private run: CallRun | null = null;
  private state: RouteState = "asking";
  private isAccepted = false;
  private isPaused = false;
  /** The attempt that is under way. */
  target: K["target"] | null = null;
  private role: CallRole = "usual";

  constructor(routing: Routing, { request, unitsMax, span = null }: RoutedOrder<K>, sink: RoutedSink<K>) {
    this.routing = routing;
    this.request = request;
    this.unitsMax = unitsMax;
    this.sink = sink;
    this.span = span;
  }

  tryNext(lastError: ProviderError | null): void {
    const { routing, request, tried } = this;
    const { health, random } = routing;
    const choice =
      tried.length < attemptsMax
        ? chooseTarget<K["target"]>(request.targets, { tried, waitMs: health.waitMs, random, call: request })
        : ({ kind: "none", retryAfterMs: null } as const);
    if (choice.kind === "none") {
      this.fail(lastError === null ? explainNoTarget(choice.retryAfterMs) : this.explain(lastError));
      return;
    }
    try {
      this.start(choice.target);
    } catch (cause) {
      // A provider never throws; one that does all the same must not take the process with it.
      const error = new ProviderError("bad-answer", "The call could not be started.", { cause });
      if (this.target === choice.target) this.onError(error);
    }
  }

  private start(target: K["target"]): void {
    // Not by `push`, which would make room for sixteen more.
    this.tried = [...this.tried, target];
    this.target = target;
    this.role = this.routing.health.begin(target);
    this.attempt = this.span?.start(...describeAttempt(this.request, target, this.tried.length)) ?? null;
    const traceparent = target.provider.trace_context === true ? (this.attempt?.traceparent ?? null) : null;
    this.run = this.request.start(target, this.unitsMax, this, traceparent);
    if (this.isPaused) this.run.pause();
  }

  onAccepted(): void {
    if (this.isAccepted) return;
    this.isAccepted = true;
    this.sink.onAccepted();
  }

  onPieces(deltas: readonly K["delta"][]): void {
    if (this.state !== "answering") {
      this.reportData();
      this.attempt?.addEvent("first_token");
    }
    this.sink.onPieces(deltas);
  }

  onEnd(reported: K["reported"] | null): void {
    if (this.state !== "answering") this.reportData();
    this.state = "over";
    this.attempt?.end();
    this.sink.onEnd(reported);
  }

  onAnswer(answer: K["answer"]): void {
    const target = this.reportData();
    this.state = "over";
    this.attempt?.end();
    this.sink.onAnswer(answer, target);
  }

  onError(error: ProviderError): void {
    const { target, routing } = this;
    // An adapter that threw may still report: its attempt is over.
    if (target === null || this.state === "over") return;
    this.attempt?.set({ "http.response.status_code": readStatus(error) });
    this.attempt?.end({ errorType: error.kind });
    this.sink.onFailedAttempt(target, error);
    routing.health.report(target, describeOutcome(error), this.role);
    this.target = null;
    if (this.state === "asking" && isWorthAnotherTarget(error)) {
      this.tryNext(error);
      return;
    }
    this.fail(this.explain(error));
  }

  private fail(failure: AppError): void {
    this.state = "over";
    this.sink.onFailure(failure);
  }

  /** An adapter calls from its own event handlers, where a throw would end the process. */
  private explain(error: ProviderError): AppError {
    try {
      return this.request.explain(error);
    } catch (cause) {
      return new AppError("internal_error", "The gateway failed to process this request.", { cause });
    }
  }

  private reportData(): K["target"] {
    const { target } = this;
    invariant(target !== null, "no upstream was asked");
    this.state = "answering";
    this.routing.health.report(target, answered, this.role);
    return target;
  }

  pause(): void {
    this.isPaused = true;
    this.run?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.run?.resume();
  }

  stopFailover(): void {
    if (this.state === "asking") this.state = "last";
  }

  cancel(): void {
    const { state, target } = this;
    if (state === "over") return;
    this.state = "over";
    if (target !== null && state !== "answering") this.routing.health.report(target, abandoned, this.role);
    this.attempt?.set({ "sluice.canceled": true });
    this.attempt?.end();
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

/** What an upstream that refused the request said, where it said anything. */
function readStatus({ detail }: ProviderError): number | undefined {
  return typeof detail?.status === "number" ? detail.status : undefined;
}

const answered = { kind: "answered" } as const;
const abandoned = { kind: "abandoned" } as const;

function explainNoTarget(retryAfterMs: number | null): AppError {
  return new AppError("model_unroutable", "Nothing can serve this model at the moment.", {
    param: "model",
    headers: presentRetry(retryAfterMs),
  });
}
