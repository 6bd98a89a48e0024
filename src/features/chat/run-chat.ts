import { createTokenMeter } from "../../lib/token-meter.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatAnswer, ChatPiece, ChatRun, ChatUsage } from "../../providers/contract.ts";
import type { ChatTarget } from "./chat-target.ts";
import { countInput, type InputSize } from "./measure-input.ts";
import type { ChatPayment, Settlement } from "./pay-chat.ts";
import { type ChargedUsage, createUsage } from "./quote-chat.ts";
import { type RoutingParts, startRoutedChat } from "./route-chat.ts";
import { createHoldWatch, type HoldWatch } from "./watch-hold.ts";

/** Why an answer is shorter than it might be. */
export type StoppedBy = "insufficient_balance";

export type ChatOrder = {
  request: ChatRequest;
  size: InputSize;
  targets: readonly ChatTarget[];
  payment: ChatPayment;
  /** The most output of all choices together, and of each. */
  outputTokensMax: number;
  choices: number;
};

/** Hears of a streamed answer while it comes. Nothing is heard before the call is paid for. */
export type ChatListener = {
  onAccepted(): void;
  /** Answers whether more can be taken at once; if not, `resume` says when. */
  onPieces(pieces: readonly ChatPiece[], stoppedBy: StoppedBy | null): boolean;
};

/** How a call ended that produced something, or that ended well with nothing. */
export type ChatEnd = {
  /** The choices of a whole answer; `null` where they went to the listener. */
  choices: string | null;
  usage: ChargedUsage;
  settlement: Settlement;
  stoppedBy: StoppedBy | null;
  /** Why the answer broke off. */
  failure: AppError | null;
  hasHungUp: boolean;
};

/**
 * Makes the end of a call durable: `settle` moves the money, and whatever must not happen without that happens with it.
 * `end` is `null` where nothing was answered.
 */
export type ConcludeChat = (
  settle: ChatPayment["settle"],
  usage: ChargedUsage | null,
  end: Omit<ChatEnd, "settlement"> | null,
) => Promise<Settlement>;

export type RunningChat = {
  /** Rejects when nothing was answered: then nothing is charged either. */
  ended: Promise<ChatEnd>;
  resume(): void;
  /** The caller is gone: the upstream is stopped, and what it has written is charged. */
  hangUp(): void;
  /** The gateway cannot go on: as if the upstream had failed. */
  stop(failure: AppError): void;
};

type Ending = Pick<ChatEnd, "choices" | "stoppedBy" | "failure" | "hasHungUp"> & { reported: ChatUsage | null };

const plainEnding: Ending = { choices: null, stoppedBy: null, failure: null, hasHungUp: false, reported: null };

/**
 * One chat call from its hold to its settlement. Where money is plenty the upstream is called while the hold is being
 * written; nothing is answered before it is. The call ends once, in one of the ways that `finish` is called.
 */
export function runChat(
  parts: RoutingParts,
  order: ChatOrder,
  { listener, conclude }: { listener: ChatListener; conclude: ConcludeChat | null },
): RunningChat {
  const { payment, request, size } = order;
  const meter = createTokenMeter();
  const { promise: ended, resolve, reject } = Promise.withResolvers<ChatEnd>();
  let run: ChatRun | null = null;
  let opening: Promise<void> = Promise.resolve();
  let isPaid = false;
  let isFinished = false;
  /** Nobody waits for an answer any more: no upstream is called from then on. */
  let isAbandoned = false;
  /** Until it is known whether more is paid for, nothing more is delivered. */
  let isShort = false;
  /** The caller cannot take more at the moment. */
  let isStuck = false;
  let hasData = false;
  let hasWritten = false;
  const endedChoices: number[] = [];
  /** Made for the first pieces: a whole answer needs none. */
  let watch: HoldWatch | null = null;
  let tokensMax = order.outputTokensMax;
  let lastUsage: ChatUsage | null = null;
  /** Of an answer that came whole; counted only if its upstream told nothing. */
  let wholeText = "";
  const waiting: (() => void)[] = [];

  /** What comes before its money is set aside waits for that. */
  function whenPaid(action: () => void): void {
    if (isPaid && !isShort) action();
    else waiting.push(action);
  }

  function goOn(): void {
    while (isPaid && !isShort) {
      const action = waiting.shift();
      if (action === undefined) break;
      action();
    }
    if (isPaid && !isShort && !isStuck && !isFinished) run?.resume();
  }

  function start(): void {
    const perChoice = Math.max(Math.floor(tokensMax / order.choices), 1);
    run = startRoutedChat(
      parts,
      { request, outputTokensMax: perChoice, targets: order.targets },
      {
        onAccepted: () =>
          whenPaid(() => {
            if (!isFinished) listener.onAccepted();
          }),
        onPieces(pieces) {
          if (isPaid && !isShort) deliver(pieces);
          else {
            run?.pause();
            waiting.push(() => deliver(pieces));
          }
        },
        onEnd: (usage) => whenPaid(() => finish({ ...plainEnding, reported: usage })),
        onAnswer(answer) {
          // The ledger keeps the order, so that the end of a hold can be written together with its beginning.
          if (conclude === null) finishWhole(answer);
          else whenPaid(() => finishWhole(answer));
        },
        onFailure: (failure) => whenPaid(() => fail(failure)),
      },
    );
  }

  function deliver(pieces: readonly ChatPiece[]): void {
    if (isFinished) return;
    hasData = true;
    let cappedAt = -1;
    let count = 0;
    watch ??= startWatch();
    for (const piece of pieces) {
      if (piece.text !== "" && watch.isBeyond()) break;
      count += 1;
      meter.add(piece.text);
      hasWritten ||= piece.text !== "";
      if (piece.usage !== undefined && payment.canCharge(piece.usage)) lastUsage = piece.usage;
      if (!piece.choices.includes('"finish_reason":"')) continue;
      noteEnds(piece.choices);
      if (isShortOfMoney() && piece.choices.includes('"finish_reason":"length"')) cappedAt = count - 1;
    }
    if (count < pieces.length) waiting.unshift(() => deliver(pieces.slice(count)));
    if (!hand(count === pieces.length ? pieces : pieces.slice(0, count), cappedAt)) {
      isStuck = true;
      run?.pause();
    }
    watchMoney();
  }

  /** Tells of the end that money made, in the piece that has it. Answers whether more can be taken at once. */
  function hand(pieces: readonly ChatPiece[], cappedAt: number): boolean {
    if (pieces.length === 0) return true;
    if (cappedAt === -1) return listener.onPieces(pieces, null);
    if (cappedAt > 0) listener.onPieces(pieces.slice(0, cappedAt), null);
    const canTakeMore = listener.onPieces(pieces.slice(cappedAt, cappedAt + 1), "insufficient_balance");
    return cappedAt + 1 < pieces.length ? listener.onPieces(pieces.slice(cappedAt + 1), null) : canTakeMore;
  }

  function noteEnds(choices: string): void {
    for (const { index, finish_reason: reason } of JSON.parse(choices) as { index: number; finish_reason: unknown }[]) {
      if (reason !== null && !endedChoices.includes(index)) endedChoices.push(index);
    }
  }

  function isShortOfMoney(): boolean {
    return tokensMax < order.outputTokensMax;
  }

  function startWatch(): HoldWatch {
    return createHoldWatch({
      payment,
      meter,
      outputTokensMax: order.outputTokensMax,
      onKnown() {
        watchMoney();
        goOn();
      },
      onTrouble: (error) => fail(error instanceof AppError ? error : createInternalError(error)),
    });
  }

  function watchMoney(): void {
    if (isFinished || watch === null) return;
    const verdict = watch.look();
    isShort = verdict === "wait";
    if (isShort) run?.pause();
    // An answer that has ended by itself needs no end from us.
    else if (verdict === "stop" && endedChoices.length < order.choices) stopForMoney();
  }

  function stopForMoney(): void {
    if (isFinished) return;
    run?.cancel();
    const indexes = Array.from({ length: order.choices }, (_, index) => index);
    const ends = indexes.filter((index) => !endedChoices.includes(index)).map(presentLengthEnd);
    listener.onPieces([{ choices: JSON.stringify(ends), text: "" }], "insufficient_balance");
    finish({ ...plainEnding, stoppedBy: "insufficient_balance" });
  }

  function finishWhole({ choices, text, usage }: ChatAnswer): void {
    wholeText = text;
    hasWritten = text !== "";
    const isCapped = isShortOfMoney() && choices.includes('"finish_reason":"length"');
    finish({ ...plainEnding, choices, reported: usage, stoppedBy: isCapped ? "insufficient_balance" : null });
  }

  function fail(failure: AppError): void {
    if (isFinished) return;
    run?.cancel();
    if (hasData) {
      finish({ ...plainEnding, failure });
      return;
    }
    isFinished = true;
    giveUp(failure);
  }

  /** Nothing was answered. A hold that cannot be given back now ends by itself: the caller hears of the first error. */
  function giveUp(error: unknown): void {
    end(null, null)
      .finally(() => reject(error))
      .catch(() => {});
  }

  function finish(ending: Ending): void {
    if (isFinished) return;
    isFinished = true;
    settle(ending).then(resolve, reject);
  }

  async function settle({ reported, ...ending }: Ending): Promise<ChatEnd> {
    const usage = reported === null || !payment.canCharge(reported) ? countUsage() : { ...reported, isCounted: false };
    const settling = end(hasWritten ? usage : null, { ...ending, usage });
    // Where the hold was refused, that is the reason why nothing could be settled.
    settling.catch(() => {});
    await opening;
    return { ...ending, usage, settlement: await settling };
  }

  function end(usage: ChargedUsage | null, told: Omit<ChatEnd, "settlement"> | null): Promise<Settlement> {
    return conclude === null ? payment.settle(usage) : conclude(payment.settle, usage, told);
  }

  /** The upstream did not tell, or not to the end. */
  function countUsage(): ChargedUsage {
    meter.add(wholeText);
    // An upstream that writes beyond the cap it was given is not paid for that.
    const written = Math.min(meter.tokens(), order.outputTokensMax);
    const counted = createUsage(lastUsage?.inputTokens ?? countInput(request, size), written);
    const { cachedInputTokens, cacheWriteTokens, inputAudioTokens } = lastUsage ?? counted;
    return { ...counted, cachedInputTokens, cacheWriteTokens, inputAudioTokens };
  }

  /** Ends the call as soon as there is a hold to be ended. */
  function abandon(end: () => void): void {
    isAbandoned = true;
    if (!isFinished) run?.cancel();
    if (isPaid) end();
    else waiting.push(end);
  }

  async function begin(): Promise<void> {
    if (payment.isComfortable()) {
      start();
      opening = payment.open();
      await opening;
    } else {
      await payment.open();
      tokensMax = payment.countPayable();
      if (!isFinished && !isAbandoned) start();
    }
    isPaid = true;
    goOn();
  }

  begin().catch((error: unknown) => {
    run?.cancel();
    isFinished = true;
    giveUp(error);
  });

  return {
    ended,
    resume() {
      isStuck = false;
      goOn();
    },
    hangUp() {
      abandon(() => finish({ ...plainEnding, hasHungUp: true }));
    },
    stop: (failure) => abandon(() => fail(failure)),
  };
}

function presentLengthEnd(index: number) {
  return { index, delta: {}, finish_reason: "length" };
}

function createInternalError(cause: unknown): AppError {
  return new AppError("internal_error", "Something in the gateway went wrong. Report it with the request_id.", {
    cause,
  });
}
