import { invariant } from "../../lib/invariant.ts";
import type { Nano } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import { chooseTarget } from "../../providers/choose-target.ts";
import {
  type ChatAnswer,
  type ChatPiece,
  type ChatRun,
  type ChatSink,
  type ChatUsage,
  ProviderError,
} from "../../providers/contract.ts";
import { describeOutcome, isWorthAnotherTarget } from "../../providers/judge-failure.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { ChatTarget } from "./chat-target.ts";

export type RoutingParts = {
  health: UpstreamHealth;
  random(): number;
  /** Told of every failed attempt, for the operator. */
  onFailedAttempt(target: ChatTarget, error: ProviderError): void;
  /** Told of every answer that cost more than was on hold and than the account had left, for the operator. */
  onLoss(target: ChatTarget | null, loss: { usage: ChatUsage; lost: Nano }): void;
};

export type RoutedCall = { request: ChatRequest; outputTokensMax: number; targets: readonly ChatTarget[] };

/** Hears of one answer, whichever upstream gives it, in the order that `ChatSink` promises. */
export type RoutedSink = {
  onAccepted(): void;
  onPieces(pieces: readonly ChatPiece[]): void;
  onEnd(usage: ChatUsage | null): void;
  onAnswer(answer: ChatAnswer, target: ChatTarget): void;
  onFailure(error: AppError): void;
};

/** A call that is under way, whoever it is sent to. */
export type RoutedRun = ChatRun & {
  /** Whoever answers, or was asked last. */
  readonly target: ChatTarget | null;
  /** From now on no other target is tried: nobody waits for an answer. */
  stopFailover(): void;
};

export const attemptsMax = 3;

/**
 * Sends a call to one target after another until one answers. The first data decides: from then on the answer is that
 * target's, however it ends.
 */
export function startRoutedChat(parts: RoutingParts, order: RoutedCall, sink: RoutedSink): RoutedRun {
  const routed = new RoutedChat(parts, order, sink);
  routed.tryNext(null);
  return routed;
}

/** A class, because there is one for each call, and it hears of every piece of its answer. */
class RoutedChat implements RoutedRun, ChatSink {
  private readonly parts: RoutingParts;
  private readonly order: RoutedCall;
  private readonly sink: RoutedSink;
  private tried: readonly ChatTarget[] = [];
  private run: ChatRun | null = null;
  /** The attempt that is under way: whom it asks, whether that one is on trial, whether anything was heard of it. */
  target: ChatTarget | null = null;
  isProbe = false;
  private hasData = false;
  private isAccepted = false;
  private isPaused = false;
  private isLastAttempt = false;
  private isOver = false;

  constructor(parts: RoutingParts, order: RoutedCall, sink: RoutedSink) {
    this.parts = parts;
    this.order = order;
    this.sink = sink;
  }

  tryNext(lastError: ProviderError | null): void {
    const { parts, order, tried } = this;
    const choice =
      tried.length < attemptsMax
        ? chooseTarget<ChatTarget>(order.targets, { tried, waitMs: parts.health.waitMs, random: parts.random })
        : ({ kind: "none", retryAfterMs: null } as const);
    if (choice.kind === "none") {
      this.isOver = true;
      this.sink.onFailure(lastError === null ? explainRest(choice.retryAfterMs) : explainFailure(lastError));
      return;
    }
    try {
      this.start(choice.target);
    } catch (cause) {
      // A provider never throws; one that does all the same must not take the process with it.
      const error = new ProviderError("bad-answer", "The call could not be started.", { cause });
      if (this.target === choice.target) this.reportFailure(error);
    }
  }

  private start(target: ChatTarget): void {
    const { request, outputTokensMax } = this.order;
    const { upstreamModel, apiKey, timeouts, route } = target;
    const { passthrough = [] } = route;
    // Not by `push`, which would make room for sixteen more.
    this.tried = [...this.tried, target];
    this.target = target;
    this.isProbe = this.parts.health.begin(target);
    this.run = target.chat.startChat({ request, outputTokensMax, upstreamModel, passthrough, apiKey, timeouts }, this);
    if (this.isPaused) this.run.pause();
  }

  onAccepted(): void {
    if (this.isAccepted) return;
    this.isAccepted = true;
    this.sink.onAccepted();
  }

  onPieces(pieces: readonly ChatPiece[]): void {
    if (!this.hasData) this.reportData();
    this.sink.onPieces(pieces);
  }

  onEnd(usage: ChatUsage | null): void {
    if (!this.hasData) this.reportData();
    this.isOver = true;
    this.sink.onEnd(usage);
  }

  onAnswer(answer: ChatAnswer): void {
    const target = this.reportData();
    this.isOver = true;
    this.sink.onAnswer(answer, target);
  }

  onError(error: ProviderError): void {
    this.reportFailure(error);
  }

  private reportData(): ChatTarget {
    const { target } = this;
    invariant(target !== null, "nobody was asked");
    this.hasData = true;
    this.parts.health.report(target, answered, this);
    return target;
  }

  private reportFailure(error: ProviderError): void {
    const { target, parts } = this;
    invariant(target !== null, "nobody was asked");
    parts.onFailedAttempt(target, error);
    parts.health.report(target, describeOutcome(error), this);
    this.target = null;
    if (!this.hasData && !this.isLastAttempt && isWorthAnotherTarget(error)) {
      this.tryNext(error);
      return;
    }
    this.isOver = true;
    this.sink.onFailure(explainFailure(error));
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
    this.isLastAttempt = true;
  }

  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.target !== null && !this.hasData) this.parts.health.report(this.target, abandoned, this);
    this.run?.cancel();
  }
}

const answered = { kind: "answered" } as const;
const abandoned = { kind: "abandoned" } as const;

/** What the caller is told; what the upstream said is for the operator's log, which has it already. */
function explainFailure(error: ProviderError): AppError {
  const options = { ...(error.param === null ? {} : { param: error.param }), cause: error };
  switch (error.kind) {
    case "rejected":
      return error.param?.endsWith(".url") === true
        ? new AppError("invalid_url", "What the address leads to could not be used.", options)
        : new AppError("invalid_parameter", explainRejection(error.param), options);
    case "content-refused":
      return new AppError("content_policy_violation", "The request was refused for its content.", options);
    case "too-long":
      // Worded so that clients who look for OpenAI's sentence find it.
      return new AppError(
        "context_length_exceeded",
        "This model's maximum context length is exceeded. Shorten the messages.",
        { cause: error, param: "messages" },
      );
    case "timeout":
      return new AppError("upstream_timeout", "The model did not answer in time.", { cause: error });
    case "rate-limited":
    case "overloaded":
    case "unauthorized":
    case "unreachable":
    case "bad-answer":
      return new AppError("upstream_unavailable", "The model could not answer. Retry shortly.", {
        cause: error,
        headers: presentRetry(error.retryAfterMs),
      });
  }
}

function explainRejection(param: string | null): string {
  return param === null
    ? "The model cannot take this request. Check its messages, tools and options."
    : `The model cannot take this value of \`${param}\`.`;
}

function explainRest(retryAfterMs: number | null): AppError {
  return new AppError("model_unroutable", "Nothing can serve this model at the moment.", {
    param: "model",
    headers: presentRetry(retryAfterMs),
  });
}

function presentRetry(retryAfterMs: number | null): Record<string, string> {
  return retryAfterMs === null ? {} : { "retry-after": String(Math.max(Math.ceil(retryAfterMs / 1000), 1)) };
}
