import { invariant } from "../../lib/invariant.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { attemptsMax, chooseTarget } from "../../providers/choose-target.ts";
import { ProviderError } from "../../providers/contract.ts";
import { describeOutcome, isWorthAnotherTarget } from "../../providers/judge-failure.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { CallKinds, CallPlan, CallRun, CallSink } from "./paid-endpoint.ts";

export type Routing = { health: UpstreamHealth; random(): number };

/** What is sent, and where it can go. */
export type RoutedRequest<K extends CallKinds> = Pick<CallPlan<K>, "targets" | "start" | "explain">;

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
  { request, unitsMax }: { request: RoutedRequest<K>; unitsMax: number },
  sink: RoutedSink<K>,
): RoutedRun<K> {
  const routed = new RoutedCall(routing, request, unitsMax, sink);
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
  private tried: readonly K["target"][] = [];
  private run: CallRun | null = null;
  private state: RouteState = "asking";
  private isAccepted = false;
  private isPaused = false;
  /** The attempt that is under way: its target, and whether its circuit is half-open. */
  target: K["target"] | null = null;
  isProbe = false;

  constructor(routing: Routing, request: RoutedRequest<K>, unitsMax: number, sink: RoutedSink<K>) {
    this.routing = routing;
    this.request = request;
    this.unitsMax = unitsMax;
    this.sink = sink;
  }

  tryNext(lastError: ProviderError | null): void {
    const { routing, request, tried } = this;
    const { health, random } = routing;
    const choice =
      tried.length < attemptsMax
        ? chooseTarget<K["target"]>(request.targets, { tried, waitMs: health.waitMs, random })
        : ({ kind: "none", retryAfterMs: null } as const);
    if (choice.kind === "none") {
      this.state = "over";
      this.sink.onFailure(lastError === null ? explainNoTarget(choice.retryAfterMs) : this.request.explain(lastError));
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
    this.isProbe = this.routing.health.begin(target);
    this.run = this.request.start(target, this.unitsMax, this);
    if (this.isPaused) this.run.pause();
  }

  onAccepted(): void {
    if (this.isAccepted) return;
    this.isAccepted = true;
    this.sink.onAccepted();
  }

  onPieces(deltas: readonly K["delta"][]): void {
    if (this.state !== "answering") this.reportData();
    this.sink.onPieces(deltas);
  }

  onEnd(reported: K["reported"] | null): void {
    if (this.state !== "answering") this.reportData();
    this.state = "over";
    this.sink.onEnd(reported);
  }

  onAnswer(answer: K["answer"]): void {
    const target = this.reportData();
    this.state = "over";
    this.sink.onAnswer(answer, target);
  }

  onError(error: ProviderError): void {
    const { target, routing } = this;
    invariant(target !== null, "no upstream was asked");
    this.sink.onFailedAttempt(target, error);
    routing.health.report(target, describeOutcome(error), this);
    this.target = null;
    if (this.state === "asking" && isWorthAnotherTarget(error)) {
      this.tryNext(error);
      return;
    }
    this.state = "over";
    this.sink.onFailure(this.request.explain(error));
  }

  private reportData(): K["target"] {
    const { target } = this;
    invariant(target !== null, "no upstream was asked");
    this.state = "answering";
    this.routing.health.report(target, answered, this);
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
    if (target !== null && state !== "answering") this.routing.health.report(target, abandoned, this);
    this.run?.cancel();
  }
}

const answered = { kind: "answered" } as const;
const abandoned = { kind: "abandoned" } as const;

function explainNoTarget(retryAfterMs: number | null): AppError {
  return new AppError("model_unroutable", "Nothing can serve this model at the moment.", {
    param: "model",
    headers: presentRetry(retryAfterMs),
  });
}

/** The head of an answer that tells when to come again, where that is known. */
export function presentRetry(retryAfterMs: number | null): Record<string, string> {
  return retryAfterMs === null ? {} : { "retry-after": String(Math.max(Math.ceil(retryAfterMs / 1000), 1)) };
}
