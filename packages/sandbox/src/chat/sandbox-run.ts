import type { Clock } from "../../../../src/providers/adapter.ts";
import { type ChatRun, type ChatSink, type ChatTimeouts, ProviderError } from "../../../../src/providers/contract.ts";
import { createScriptedError, type SandboxScript } from "../sandbox-script.ts";
import type { SandboxDelivery } from "./sandbox-delivery.ts";

type RunParts = {
  /** The outcome unless something intervenes. */
  outcome: SandboxDelivery | ProviderError;
  script: SandboxScript;
  timeouts: ChatTimeouts;
  sink: ChatSink;
  clock: Clock;
  /** Called once, when the call ends in any way. */
  onOver(): void;
};

/** Yield to the event loop after this many pieces. */
const piecesPerTurn = 64;
/** The longest delay of a Node.js timer. */
const timerMsMax = 2 ** 31 - 1;

/**
 * Delivers a planned answer like an upstream: asynchronously, in pieces, with back-pressure. One long function, because
 * its steps share one timer and one state.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one answer in progress; its functions share its state.
export function startSandboxRun({ outcome, script, timeouts, sink, clock, onOver }: RunParts): ChatRun {
  const deadlineAtMs = clock.monotonicMs() + timeouts.totalMs;
  const cutAfterPieces = script.cutAfterPieces ?? Number.POSITIVE_INFINITY;
  let isOver = false;
  let isPaused = false;
  let parked: (() => void) | null = null;
  let turn: NodeJS.Immediate | undefined = setImmediate(begin);
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    isOver = true;
    parked = null;
    clearImmediate(turn);
    clearTimeout(timer);
    onOver();
  }

  function fail(error: ProviderError): void {
    end();
    sink.onError(error);
  }

  function failLate(): void {
    fail(createScriptedError("timeout", "The time of the call is over."));
  }

  /** Continues unless paused. A pause cannot exceed the call's total time. */
  function goOn(step: () => void): void {
    if (!isPaused) {
      take(step);
      return;
    }
    parked = step;
    timer = setTimeout(failLate, Math.min(Math.max(0, deadlineAtMs - clock.monotonicMs()), timerMsMax));
  }

  /** Answers are generated lazily; an error in that must not end the process. */
  function take(step: () => void): void {
    try {
      step();
    } catch (cause) {
      if (isOver) throw cause;
      fail(new ProviderError("bad-answer", "The sandbox could not make an answer.", { cause, isIsolated: true }));
    }
  }

  function waitFor(waitMs: number, limitMs: number, step: () => void): void {
    const allowedMs = Math.min(limitMs, deadlineAtMs - clock.monotonicMs(), timerMsMax);
    if (waitMs > allowedMs) timer = setTimeout(failLate, Math.max(0, allowedMs));
    else if (waitMs > 0) timer = setTimeout(() => goOn(step), waitMs);
    else turn = setImmediate(() => goOn(step));
  }

  function begin(): void {
    if (outcome instanceof ProviderError) {
      waitFor(script.delayMs, timeouts.firstByteMs, () => fail(outcome));
      return;
    }
    sink.onAccepted();
    if (isOver) return;
    const waitMs = script.isSilent ? Number.POSITIVE_INFINITY : script.delayMs;
    waitFor(waitMs, timeouts.firstByteMs, () => deliver(outcome));
  }

  function deliver(delivery: SandboxDelivery): void {
    if (clock.monotonicMs() >= deadlineAtMs) {
      failLate();
      return;
    }
    const piecesMax = Math.min(script.slowMs > 0 ? 1 : piecesPerTurn, cutAfterPieces - delivery.countPieces());
    const isFinished = delivery.advance(piecesMax);
    if (isOver) return;
    if (isFinished) {
      end();
      delivery.finish({ hasUsage: script.hasUsage });
    } else if (delivery.countPieces() >= cutAfterPieces) {
      fail(createScriptedError("unreachable", "The script breaks the connection."));
    } else {
      waitFor(script.slowMs, timeouts.idleMs, () => deliver(delivery));
    }
  }

  return {
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      if (parked === null) return;
      const step = parked;
      parked = null;
      clearTimeout(timer);
      turn = setImmediate(() => goOn(step));
    },
    cancel() {
      if (!isOver) end();
    },
  };
}
