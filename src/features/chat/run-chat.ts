import { createTokenMeter, type TokenMeter } from "../../lib/token-meter.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatAnswer, ChatPiece, ChatUsage } from "../../providers/contract.ts";
import type { ChatTarget } from "./chat-target.ts";
import { decideHangUp } from "./decide-hang-up.ts";
import { countInput, type InputSize } from "./measure-input.ts";
import type { ChatPayment, Settlement } from "./pay-chat.ts";
import { type ChargedUsage, createUsage } from "./quote-chat.ts";
import { type RoutedRun, type RoutedSink, type RoutingParts, startRoutedChat } from "./route-chat.ts";
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
  /** All that the model writes is seen as it is written. */
  isVisible: boolean;
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
  /**
   * The caller is gone: the upstream is stopped, and what it has written is charged, or it is read to its end where only
   * its end tells what it has cost.
   */
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
  /** A place among the calls that are read to their end for nobody; `null` where there is none left. */
  takeDrainPlace(): (() => void) | null;
};

type Ending = Pick<ChatEnd, "choices" | "stoppedBy" | "failure"> & { reported: ChatUsage | null };

/**
 * How long a hold that nobody waits for leaves the processor to the request. Written at once, it kept the request from
 * its upstream for 0.4 ms on a small machine. An answer that comes earlier has its hold and its end written together.
 */
const openAfterMs = 1;

/** Our own count never makes more than this many tokens of what the letters of a text come to. */
const densityMax = 2;

/** Many vendors report once at the start what they have read; one that goes on reporting does so as it writes. */
const usageReportsMin = 2;

const plainEnding: Ending = { choices: null, stoppedBy: null, failure: null, reported: null };

/**
 * Who an answer is for: its caller, until that one has left or the gateway cannot go on; then no upstream is called any
 * more. While it is drained, the one that was called is read to its end for what it reports there.
 */
type Audience = "caller" | "left" | "drained" | "stopped";

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
  private run: RoutedRun | null = null;
  private opening: Promise<void> | null = null;
  private openTimer: NodeJS.Timeout | null = null;
  private isPaid = false;
  private isFinished = false;
  private isOver = false;
  private audience: Audience = "caller";
  private leaveDrainPlace: (() => void) | null = null;
  private isAccepted = false;
  /** Until it is known whether more is paid for, nothing more is delivered. */
  private isShort = false;
  /** The caller cannot take more at the moment. */
  private isStuck = false;
  private hasData = false;
  private hasWritten = false;
  /** A choice ended at the cap. */
  private hasReachedCap = false;
  private tokensMax: number;
  private lastUsage: ChatUsage | null = null;
  /** How often the upstream reported more output than before, and whether it did so with the last piece. */
  private usageReports = 0;
  private isUsageFresh = false;
  private textPieces = 0;
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
    if (!this.order.payment.canAuthorizeOptimistically()) {
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
    if (!this.isFinished && this.audience === "caller") this.start();
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
    this.isAccepted = true;
    if (listener === null) return;
    this.whenPaid(() => {
      if (!this.isFinished && this.audience === "caller") listener.onAccepted();
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
      if (text !== "" && watch.isBeyond()) break;
      meter.add(text);
      if (text !== "") {
        this.hasWritten = true;
        this.textPieces += 1;
      }
      count += 1;
      this.isUsageFresh = usage !== undefined && payment.canCharge(usage) && this.takeUsage(usage, meter);
      if (isGoingOn === true || !choices.includes('"finish_reason":"')) continue;
      this.noteEnds(choices);
      if (!choices.includes('"finish_reason":"length"')) continue;
      this.hasReachedCap = true;
      if (this.isShortOfMoney()) cappedAt = count - 1;
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

  /** Answers whether it tells of more output than before. */
  private takeUsage(usage: ChatUsage, meter: TokenMeter): boolean {
    const hasGrown = usage.outputTokens > (this.lastUsage?.outputTokens ?? 0);
    if (hasGrown) this.usageReports += 1;
    this.lastUsage = usage;
    meter.report(usage.outputTokens);
    return hasGrown;
  }

  /** Tells of the end that money made, in the piece that has it. Answers whether more can be taken at once. */
  private hand(pieces: readonly ChatPiece[], cappedAt: number): boolean {
    const { listener } = this.options;
    if (pieces.length === 0 || listener === null || this.audience !== "caller") return true;
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
    const watch = createHoldWatch({ payment, meter, outputTokensMax, cap: this.tokensMax, listener: this });
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
    this.hand([{ choices: JSON.stringify(ends), text: "" }], 0);
    this.finish({ ...plainEnding, stoppedBy: "insufficient_balance" });
  }

  private finishWhole({ choices, text, usage }: ChatAnswer): void {
    this.wholeText = text;
    this.hasWritten = text !== "";
    this.hasReachedCap = choices.includes('"finish_reason":"length"');
    const stoppedBy = this.isShortOfMoney() && this.hasReachedCap ? "insufficient_balance" : null;
    this.finish({ choices, stoppedBy, failure: null, reported: usage });
  }

  private fail(failure: AppError): void {
    if (this.isFinished) return;
    this.run?.cancel();
    if (this.hasData || (this.audience === "drained" && this.isAccepted)) {
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

  private finish({ choices, stoppedBy, failure, reported }: Ending): void {
    if (this.isFinished) return;
    this.isFinished = true;
    const { usage, isDue } = this.decideCharge(reported);
    const told = { choices, stoppedBy, failure, hasHungUp: usage.hasHungUp === true, usage };
    // The ledger keeps the order: first the hold, then its end.
    const opening = this.open();
    const settling = this.end(isDue ? usage : null, told);
    const leave = (error: unknown): void => this.leave(error);
    if (this.isPaid) {
      settling.then((settlement) => this.complete(told, settlement), leave);
      return;
    }
    // Where the hold was refused, that is the reason why nothing could be settled.
    settling.catch(() => {});
    opening.then(() => settling).then((settlement) => this.complete(told, settlement), leave);
  }

  /**
   * What is charged: what the upstream reported, or our own count; for a call that was drained without ever hearing of
   * its usage, all that is on hold. An empty answer is the upstream's fault and costs nothing, unless the cap ended it,
   * or its caller did not wait for it.
   */
  private decideCharge(reported: ChatUsage | null): { usage: ChargedUsage; isDue: boolean } {
    const { payment } = this.order;
    const { audience } = this;
    const isReported = reported !== null && payment.canCharge(reported);
    const isHoldDue = audience === "drained" && !isReported;
    const counted = isHoldDue ? payment.describeHeldUsage() : this.countUsage();
    const usage: ChargedUsage = isReported ? { ...reported, isCounted: false } : counted;
    if (audience === "left" || audience === "drained") usage.hasHungUp = true;
    const isSpent = this.hasReachedCap && isReported;
    const isLeft = audience === "left" && this.isAccepted;
    return { usage, isDue: this.hasWritten || isHoldDue || isSpent || isLeft };
  }

  private complete(told: Omit<ChatEnd, "settlement">, settlement: Settlement): void {
    const { choices, stoppedBy, failure, hasHungUp, usage } = told;
    this.tellOver(usage.inputTokens + usage.outputTokens);
    if (settlement.lost > 0n) this.parts.onLoss(this.run?.target ?? null, { usage, lost: settlement.lost });
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
    this.leaveDrainPlace?.();
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
    // Most vendors send a token a piece, which tells more than the letters of a text that is dense.
    const seen = Math.max(meter.tokens(), Math.min(this.textPieces, meter.tokens() * densityMax));
    // An upstream that writes beyond the cap it was given is not paid for that.
    const written = Math.min(seen, outputTokensMax);
    const counted = createUsage(lastUsage?.inputTokens ?? countInput(request, size), written);
    const { cachedInputTokens, cacheWriteTokens, inputAudioTokens } = lastUsage ?? counted;
    return { ...counted, cachedInputTokens, cacheWriteTokens, inputAudioTokens };
  }

  resume(): void {
    this.isStuck = false;
    this.goOn();
  }

  hangUp(): void {
    if (this.isFinished || this.audience !== "caller") return;
    const { order, lastUsage, streamed } = this;
    const reportsUsage = this.isUsageFresh && this.usageReports >= usageReportsMin;
    const way = decideHangUp({
      isSent: this.run !== null,
      isAccepted: this.isAccepted,
      isVisible: order.isVisible,
      isInputKnown: order.size.isText || lastUsage !== null,
      reportsUsage,
      isComplete: streamed !== null && streamed.endedChoices.length >= order.choices,
    });
    this.audience = way === "cancel" ? "left" : "drained";
    if (way === "drain") this.leaveDrainPlace = this.options.takeDrainPlace();
    if (this.leaveDrainPlace === null) {
      // Without a place nobody will ever hear what the upstream reports.
      this.abandon(() => this.finish({ ...plainEnding, reported: reportsUsage ? lastUsage : null }));
      return;
    }
    this.run?.stopFailover();
    this.resume();
  }

  stop(failure: AppError): void {
    if (this.audience === "caller") this.audience = "stopped";
    this.abandon(() => this.fail(failure));
  }

  /** Ends the call as soon as there is a hold to be ended. */
  private abandon(end: () => void): void {
    if (!this.isFinished) this.run?.cancel();
    if (this.isPaid) end();
    else this.wait(end);
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
