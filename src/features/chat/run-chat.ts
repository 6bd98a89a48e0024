import { createTokenMeter, type TokenMeter } from "../../lib/token-meter.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatAnswer, ChatPiece, ChatRun, ChatUsage } from "../../providers/contract.ts";
import type { ChatTarget } from "./chat-target.ts";
import { countInput, type InputSize } from "./measure-input.ts";
import type { ChatPayment, Settlement } from "./pay-chat.ts";
import { type ChargedUsage, createUsage } from "./quote-chat.ts";
import { type RoutedSink, type RoutingParts, startRoutedChat } from "./route-chat.ts";
import { createHoldWatch, type HoldWatch, type HoldWatchListener } from "./watch-hold.ts";

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
 * Makes the end of a call durable: `payment` moves the money, and whatever must not happen without that happens with it.
 * `end` is `null` where nothing was answered.
 */
export type ConcludeChat = (
  payment: Pick<ChatPayment, "settle">,
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

type RunOptions = {
  /** `null` where the answer is wanted whole. */
  listener: ChatListener | null;
  conclude: ConcludeChat | null;
  /** Told once, when the call has ended, how many tokens it used. */
  onOver(tokensUsed: number): void;
};

type Ending = Pick<ChatEnd, "choices" | "stoppedBy" | "failure" | "hasHungUp"> & { reported: ChatUsage | null };

/**
 * How long a hold that nobody waits for leaves the processor to the request. Written at once, it kept the request from
 * its upstream for 0.4 ms on a small machine. An answer that comes earlier has its hold and its end written together.
 */
const openAfterMs = 1;

const plainEnding: Ending = { choices: null, stoppedBy: null, failure: null, hasHungUp: false, reported: null };

/**
 * One chat call from its hold to its settlement. Where money is plenty the upstream is called first, and the hold is
 * written while it works; nothing is answered before that. The call ends once, in one of the ways that `finish` is called.
 */
export function runChat(parts: RoutingParts, order: ChatOrder, options: RunOptions): RunningChat {
  const chat = new OneChat(parts, order, options);
  chat.begin();
  return chat;
}

/**
 * A class, unlike most things here: there is one for each call, and thirty functions of its own would be the greatest
 * part of what a call leaves to the garbage collector.
 */
class OneChat implements RunningChat, RoutedSink, HoldWatchListener {
  readonly ended: Promise<ChatEnd>;
  private readonly parts: RoutingParts;
  private readonly order: ChatOrder;
  private readonly options: RunOptions;
  private readonly resolve: (end: ChatEnd) => void;
  private readonly reject: (error: unknown) => void;
  private run: ChatRun | null = null;
  private opening: Promise<void> | null = null;
  private openTimer: NodeJS.Timeout | null = null;
  private isPaid = false;
  private isFinished = false;
  private isOver = false;
  /** Nobody waits for an answer any more: no upstream is called from then on. */
  private isAbandoned = false;
  /** Until it is known whether more is paid for, nothing more is delivered. */
  private isShort = false;
  /** The caller cannot take more at the moment. */
  private isStuck = false;
  private hasData = false;
  private hasWritten = false;
  private tokensMax: number;
  private lastUsage: ChatUsage | null = null;
  /** Of an answer that came whole; counted only if its upstream told nothing. */
  private wholeText = "";
  /** What comes before its money is set aside waits for that. */
  private waiting: (() => void)[] | null = null;
  /** Made for the first pieces: a whole answer needs none of it. */
  private streamed: { meter: TokenMeter; watch: HoldWatch; endedChoices: number[] } | null = null;

  constructor(parts: RoutingParts, order: ChatOrder, options: RunOptions) {
    this.parts = parts;
    this.order = order;
    this.options = options;
    this.tokensMax = order.outputTokensMax;
    const { promise, resolve, reject } = Promise.withResolvers<ChatEnd>();
    this.ended = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  begin(): void {
    if (!this.order.payment.isComfortable()) {
      this.open();
      return;
    }
    this.start();
    if (this.opening === null) this.openTimer = setTimeout(openNow, openAfterMs, this);
  }

  /** Has the money set aside, unless that has been asked for already. */
  open(): Promise<void> {
    if (this.opening !== null) return this.opening;
    if (this.openTimer !== null) clearTimeout(this.openTimer);
    this.opening = this.order.payment.open();
    this.opening.then(() => this.takeHold()).catch((error: unknown) => this.refuse(error));
    return this.opening;
  }

  private takeHold(): void {
    // What the account can pay for is known only when the hold is there.
    if (this.run === null) this.startWithin(this.order.payment.countPayable());
    this.isPaid = true;
    this.goOn();
  }

  private startWithin(tokensPayable: number): void {
    this.tokensMax = tokensPayable;
    if (!this.isFinished && !this.isAbandoned) this.start();
  }

  /** There is no money for the call, or nobody knows whether there is. */
  private refuse(error: unknown): void {
    this.run?.cancel();
    this.isFinished = true;
    this.giveUp(error);
  }

  private start(): void {
    const { request, targets, choices } = this.order;
    const outputTokensMax = Math.max(Math.floor(this.tokensMax / choices), 1);
    this.run = startRoutedChat(this.parts, { request, outputTokensMax, targets }, this);
  }

  private canGoOn(): boolean {
    return this.isPaid && !this.isShort;
  }

  private whenPaid(action: () => void): void {
    if (this.canGoOn()) action();
    else this.wait(action);
  }

  /** Whatever waits, waits for the hold or for more of it. */
  private wait(action: () => void): void {
    this.waiting ??= [];
    this.waiting.push(action);
    this.open();
  }

  private goOn(): void {
    while (this.waiting !== null && this.canGoOn()) {
      const action = this.waiting.shift();
      if (action === undefined) break;
      action();
    }
    if (this.canGoOn() && !this.isStuck && !this.isFinished) this.run?.resume();
  }

  onAccepted(): void {
    const { listener } = this.options;
    if (listener === null) return;
    this.whenPaid(() => {
      if (!this.isFinished) listener.onAccepted();
    });
  }

  onPieces(pieces: readonly ChatPiece[]): void {
    if (this.canGoOn()) this.deliver(pieces);
    else {
      this.run?.pause();
      this.wait(() => this.deliver(pieces));
    }
  }

  onEnd(usage: ChatUsage | null): void {
    this.whenPaid(() => this.finish({ ...plainEnding, reported: usage }));
  }

  onAnswer(answer: ChatAnswer): void {
    // The ledger keeps the order, so that the end of a hold can be written together with its beginning.
    if (this.options.conclude === null) this.finishWhole(answer);
    else this.whenPaid(() => this.finishWhole(answer));
  }

  onFailure(failure: AppError): void {
    this.whenPaid(() => this.fail(failure));
  }

  private deliver(pieces: readonly ChatPiece[]): void {
    if (this.isFinished) return;
    const { payment } = this.order;
    this.streamed ??= this.startWatch();
    const { meter, watch } = this.streamed;
    this.hasData = true;
    let cappedAt = -1;
    let count = 0;
    for (const piece of pieces) {
      const { text, choices, usage, isGoingOn } = piece;
      if (text !== "") {
        if (watch.isBeyond()) break;
        meter.add(text);
        this.hasWritten = true;
      }
      count += 1;
      if (usage !== undefined && payment.canCharge(usage)) this.lastUsage = usage;
      if (isGoingOn === true || !choices.includes('"finish_reason":"')) continue;
      this.noteEnds(choices);
      if (this.isShortOfMoney() && choices.includes('"finish_reason":"length"')) cappedAt = count - 1;
    }
    if (count < pieces.length) {
      this.waiting ??= [];
      this.waiting.unshift(() => this.deliver(pieces.slice(count)));
    }
    if (!this.hand(count === pieces.length ? pieces : pieces.slice(0, count), cappedAt)) {
      this.isStuck = true;
      this.run?.pause();
    }
    this.watchMoney();
  }

  /** Tells of the end that money made, in the piece that has it. Answers whether more can be taken at once. */
  private hand(pieces: readonly ChatPiece[], cappedAt: number): boolean {
    const { listener } = this.options;
    if (pieces.length === 0 || listener === null) return true;
    if (cappedAt === -1) return listener.onPieces(pieces, null);
    if (cappedAt > 0) listener.onPieces(pieces.slice(0, cappedAt), null);
    const canTakeMore = listener.onPieces(pieces.slice(cappedAt, cappedAt + 1), "insufficient_balance");
    return cappedAt + 1 < pieces.length ? listener.onPieces(pieces.slice(cappedAt + 1), null) : canTakeMore;
  }

  private noteEnds(choices: string): void {
    const ended = this.streamed?.endedChoices ?? [];
    for (const { index, finish_reason: reason } of JSON.parse(choices) as { index: number; finish_reason: unknown }[]) {
      if (reason !== null && !ended.includes(index)) ended.push(index);
    }
  }

  private isShortOfMoney(): boolean {
    return this.tokensMax < this.order.outputTokensMax;
  }

  private startWatch() {
    const { payment, outputTokensMax } = this.order;
    const meter = createTokenMeter();
    const watch = createHoldWatch({ payment, meter, outputTokensMax, listener: this });
    return { meter, watch, endedChoices: [] };
  }

  onHoldKnown(): void {
    this.watchMoney();
    this.goOn();
  }

  onHoldTrouble(error: unknown): void {
    this.fail(error instanceof AppError ? error : createInternalError(error));
  }

  private watchMoney(): void {
    if (this.isFinished || this.streamed === null) return;
    const { watch, endedChoices } = this.streamed;
    const verdict = watch.look();
    this.isShort = verdict === "wait";
    if (this.isShort) this.run?.pause();
    // An answer that has ended by itself needs no end from us.
    else if (verdict === "stop" && endedChoices.length < this.order.choices) this.stopForMoney(endedChoices);
  }

  private stopForMoney(endedChoices: readonly number[]): void {
    if (this.isFinished) return;
    this.run?.cancel();
    const indexes = Array.from({ length: this.order.choices }, (_, index) => index);
    const ends = indexes.filter((index) => !endedChoices.includes(index)).map(presentLengthEnd);
    this.options.listener?.onPieces([{ choices: JSON.stringify(ends), text: "" }], "insufficient_balance");
    this.finish({ ...plainEnding, stoppedBy: "insufficient_balance" });
  }

  private finishWhole({ choices, text, usage }: ChatAnswer): void {
    this.wholeText = text;
    this.hasWritten = text !== "";
    const isCapped = this.isShortOfMoney() && choices.includes('"finish_reason":"length"');
    const stoppedBy = isCapped ? "insufficient_balance" : null;
    this.finish({ choices, stoppedBy, failure: null, hasHungUp: false, reported: usage });
  }

  private fail(failure: AppError): void {
    if (this.isFinished) return;
    this.run?.cancel();
    if (this.hasData) {
      this.finish({ ...plainEnding, failure });
      return;
    }
    this.isFinished = true;
    this.giveUp(failure);
  }

  /** Nothing was answered. A hold that cannot be given back now ends by itself: the caller hears of the first error. */
  private giveUp(error: unknown): void {
    this.end(null, null)
      .finally(() => this.leave(error))
      .catch(() => {});
  }

  private finish({ choices, stoppedBy, failure, hasHungUp, reported }: Ending): void {
    if (this.isFinished) return;
    this.isFinished = true;
    const canCharge = reported !== null && this.order.payment.canCharge(reported);
    const usage = canCharge ? { ...reported, isCounted: false } : this.countUsage();
    const told = { choices, stoppedBy, failure, hasHungUp, usage };
    // The ledger keeps the order: first the hold, then its end.
    const opening = this.open();
    const settling = this.end(this.hasWritten ? usage : null, told);
    const leave = (error: unknown): void => this.leave(error);
    if (this.isPaid) {
      settling.then((settlement) => this.complete(told, settlement), leave);
      return;
    }
    // Where the hold was refused, that is the reason why nothing could be settled.
    settling.catch(() => {});
    opening.then(() => settling).then((settlement) => this.complete(told, settlement), leave);
  }

  private complete(told: Omit<ChatEnd, "settlement">, settlement: Settlement): void {
    const { choices, stoppedBy, failure, hasHungUp, usage } = told;
    this.tellOver(usage.inputTokens + usage.outputTokens);
    this.resolve({ choices, stoppedBy, failure, hasHungUp, usage, settlement });
  }

  private leave(error: unknown): void {
    this.tellOver(0);
    this.reject(error);
  }

  /** A hold that is refused and the settlement that waits for it both end the call. */
  private tellOver(tokensUsed: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.options.onOver(tokensUsed);
  }

  private end(usage: ChargedUsage | null, told: Omit<ChatEnd, "settlement"> | null): Promise<Settlement> {
    const { conclude } = this.options;
    const { payment } = this.order;
    return conclude === null ? payment.settle(usage) : conclude(payment, usage, told);
  }

  /** The upstream did not tell, or not to the end. */
  private countUsage(): ChargedUsage {
    const { request, size, outputTokensMax } = this.order;
    const { lastUsage } = this;
    const meter = this.streamed?.meter ?? createTokenMeter();
    meter.add(this.wholeText);
    // An upstream that writes beyond the cap it was given is not paid for that.
    const written = Math.min(meter.tokens(), outputTokensMax);
    const counted = createUsage(lastUsage?.inputTokens ?? countInput(request, size), written);
    const { cachedInputTokens, cacheWriteTokens, inputAudioTokens } = lastUsage ?? counted;
    return { ...counted, cachedInputTokens, cacheWriteTokens, inputAudioTokens };
  }

  /** Ends the call as soon as there is a hold to be ended. */
  private abandon(end: () => void): void {
    this.isAbandoned = true;
    if (!this.isFinished) this.run?.cancel();
    if (this.isPaid) end();
    else this.wait(end);
  }

  resume(): void {
    this.isStuck = false;
    this.goOn();
  }

  hangUp(): void {
    this.abandon(() => this.finish({ ...plainEnding, hasHungUp: true }));
  }

  stop(failure: AppError): void {
    this.abandon(() => this.fail(failure));
  }
}

function openNow(chat: OneChat): void {
  chat.open();
}

function presentLengthEnd(index: number) {
  return { index, delta: {}, finish_reason: "length" };
}

function createInternalError(cause: unknown): AppError {
  return new AppError("internal_error", "Something in the gateway went wrong. Report it with the request_id.", {
    cause,
  });
}
