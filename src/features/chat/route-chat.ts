import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import { chooseTarget } from "../../providers/choose-target.ts";
import {
  type ChatAnswer,
  type ChatPiece,
  type ChatRun,
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

export const attemptsMax = 3;

/**
 * Sends a call to one target after another until one answers. The first data decides: from then on the answer is that
 * target's, however it ends.
 */
export function startRoutedChat(parts: RoutingParts, order: RoutedCall, sink: RoutedSink): ChatRun {
  const tried: ChatTarget[] = [];
  let run: ChatRun | null = null;
  /** The call of which nobody has heard yet. */
  let pending: { target: ChatTarget; isProbe: boolean } | null = null;
  let isAccepted = false;
  let isPaused = false;
  let isOver = false;

  function tryNext(lastError: ProviderError | null): void {
    const choice =
      tried.length < attemptsMax
        ? chooseTarget<ChatTarget>(order.targets, { tried, waitMs: parts.health.waitMs, random: parts.random })
        : ({ kind: "none", retryAfterMs: null } as const);
    if (choice.kind === "none") {
      isOver = true;
      sink.onFailure(lastError === null ? explainRest(choice.retryAfterMs) : explainFailure(lastError));
      return;
    }
    try {
      start(choice.target);
    } catch (cause) {
      // A provider never throws; one that does all the same must not take the process with it.
      failUnstarted(choice.target, cause);
    }
  }

  function failUnstarted(target: ChatTarget, cause: unknown): void {
    const error = new ProviderError("bad-answer", "The call could not be started.", { cause });
    parts.onFailedAttempt(target, error);
    parts.health.report(target, describeOutcome(error), { isProbe: pending?.isProbe === true });
    pending = null;
    tryNext(error);
  }

  function start(target: ChatTarget): void {
    const { request, outputTokensMax } = order;
    let hasData = false;
    tried.push(target);
    const call = { isProbe: parts.health.begin(target) };
    pending = { target, ...call };
    const reportData = (): void => {
      if (hasData) return;
      hasData = true;
      pending = null;
      parts.health.report(target, { kind: "answered" }, call);
    };
    run = target.chat.startChat(
      {
        request,
        outputTokensMax,
        upstreamModel: target.upstreamModel,
        apiKey: target.apiKey,
        timeouts: target.timeouts,
      },
      {
        onAccepted() {
          if (isAccepted) return;
          isAccepted = true;
          sink.onAccepted();
        },
        onPieces(pieces) {
          reportData();
          sink.onPieces(pieces);
        },
        onEnd(usage) {
          reportData();
          isOver = true;
          sink.onEnd(usage);
        },
        onAnswer(answer) {
          reportData();
          isOver = true;
          sink.onAnswer(answer, target);
        },
        onError(error) {
          parts.onFailedAttempt(target, error);
          parts.health.report(target, describeOutcome(error), call);
          pending = null;
          if (!hasData && isWorthAnotherTarget(error)) return tryNext(error);
          isOver = true;
          sink.onFailure(explainFailure(error));
        },
      },
    );
    if (isPaused) run.pause();
  }

  tryNext(null);
  return {
    pause() {
      isPaused = true;
      run?.pause();
    },
    resume() {
      isPaused = false;
      run?.resume();
    },
    cancel() {
      if (isOver) return;
      isOver = true;
      if (pending !== null) parts.health.report(pending.target, { kind: "abandoned" }, pending);
      pending = null;
      run?.cancel();
    },
  };
}

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
      return new AppError("prompt_too_long", "The messages are longer than this model can read.", {
        cause: error,
        param: "messages",
      });
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
