import { computeCacheSaving } from "../../lib/bill.ts";
import { createTokenMeter, type TokenMeter } from "../../lib/token-meter.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatAnswer, ChatPiece, ChatUsage } from "../../providers/contract.ts";
import type { CallMeter, ChargeRule, HoldCover, StoppedBy, UpstreamNotice } from "../calls/index.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import type { ChatTerms } from "./chat-terms.ts";
import { cutAnswer } from "./cut-answer.ts";
import { countInput, type InputSize } from "./measure-input.ts";
import {
  billChat,
  type ChargedUsage,
  chargeReported,
  createUsage,
  isChargeable,
  isPlausible,
  limitToRequested,
} from "./quote-chat.ts";

/** Our own count is at most this multiple of the estimate by characters. */
const densityMax = 2;

/** A choice of a streamed answer that has ended. */
type EndedChoice = { index: number; finish_reason: unknown };

export type MeteredChat = {
  request: ChatRequest;
  size: InputSize;
  terms: ChatTerms;
  /** Logs implausible usage reports. */
  logger: Logger;
  requestId: string;
  modelId: string;
};

/**
 * How an upstream reports its output during a stream. Many vendors report once at the start; one that reports again does
 * so continuously.
 *
 * | state     | meaning                                                       |
 * |-----------|---------------------------------------------------------------|
 * | `none`    | no output reported                                            |
 * | `once`    | one report                                                    |
 * | `current` | continuous reports, the last piece had one                    |
 * | `behind`  | continuous reports, but pieces have arrived since the last one |
 */
type Reporting = "none" | "once" | "current" | "behind";

const afterGrowth: Readonly<Record<Reporting, Reporting>> = {
  none: "once",
  once: "current",
  current: "current",
  behind: "current",
};

/**
 * | state     | meaning                                                       |
 * |-----------|---------------------------------------------------------------|
 * | `empty`   | no visible output yet                                         |
 * | `written` | visible output: text, a tool call, an image, an item of any type |
 */
type Content = "empty" | "written";

/**
 * | state      | meaning                                                      |
 * |------------|--------------------------------------------------------------|
 * | `open`     | no choice has ended at the cap                               |
 * | `capped`   | a choice ended at the cap of the model or the caller         |
 * | `unfunded` | a choice ended at the cap that the balance imposed           |
 * | `passed`   | the upstream wrote more than the cap it was given            |
 */
type Cap = "open" | "capped" | "unfunded" | "passed";

/** How far an upstream may pass its cap before we stop it: tokenizers differ. */
const capPercent = 110;
/** No notice about a low usage report below this much output. */
const tokensWorthNotice = 200;
/** Bounds of the average characters per token, in any script. */
const charactersPerTokenMin = 3;
const charactersPerTokenMax = 12;

const capMark = '"finish_reason":"length"';

/** Counts the tokens of one answer as it arrives, and decides what to charge. */
export class ChatMeter implements CallMeter<ChatKinds> {
  private readonly chat: MeteredChat;
  private unitsAllowed = 0;
  /** Above this many units the upstream has passed its cap. */
  private unitsCut = 0;
  private tokens: TokenMeter | null = null;
  private content: Content = "empty";
  private cap: Cap = "open";
  private reporting: Reporting = "none";
  private lastUsage: ChatUsage | null = null;
  private textPieces = 0;
  /** A non-streaming answer; counted only if the upstream reported no usage. */
  private whole: ChatAnswer | null = null;
  private readonly endedChoices: EndedChoice[] = [];
  /** The piece that ended at the cap that the balance imposed. */
  private cappedPiece: ChatPiece | null = null;

  constructor(chat: MeteredChat) {
    this.chat = chat;
  }

  begin(unitsMax: number): void {
    this.unitsAllowed = unitsMax;
    this.unitsCut = Math.ceil((unitsMax * capPercent) / 100);
  }

  take(pieces: readonly ChatPiece[], cover: HoldCover): number {
    this.tokens ??= createTokenMeter();
    let count = 0;
    for (const piece of pieces) {
      const { text, choices, usage, isUnfinished } = piece;
      if (text !== "") {
        if (cover.isBeyond()) break;
        this.tokens.add(text);
        this.content = "written";
        this.textPieces += 1;
        if (this.countSurely(this.tokens) > this.unitsCut) {
          this.cap = "passed";
          break;
        }
      } else if (piece.isContent === true) this.content = "written";
      count += 1;
      if (usage !== undefined && this.canCharge(usage)) this.takeUsage(usage, this.tokens);
      else if (this.reporting === "current") this.reporting = "behind";
      if (isUnfinished !== true && choices.includes('"finish_reason":"')) this.noteEnds(piece);
    }
    return count;
  }

  /**
   * A lower bound of the tokens written. Tokenizers differ, so the characters alone are weak evidence. Two signals that
   * agree are enough: the pieces (most vendors send one token each) or the reports, and our own count.
   */
  private countSurely(tokens: TokenMeter): number {
    const least = tokens.tokensMin();
    const reported = this.lastUsage === null ? 0 : this.lastUsage.outputTokens - this.lastUsage.reasoningTokens;
    const signalled = reported > this.textPieces ? reported : this.textPieces;
    if (signalled <= least) return least;
    const counted = tokens.tokensCounted();
    return Math.max(least, signalled < counted ? signalled : counted);
  }

  private takeUsage(usage: ChatUsage, tokens: TokenMeter): void {
    if (usage.outputTokens > (this.lastUsage?.outputTokens ?? 0)) this.reporting = afterGrowth[this.reporting];
    else if (this.reporting === "current") this.reporting = "behind";
    this.lastUsage = usage;
    tokens.report(usage.outputTokens);
  }

  private noteEnds(piece: ChatPiece): void {
    const { endedChoices } = this;
    for (const choice of JSON.parse(piece.choices) as EndedChoice[]) {
      const isKnown = endedChoices.some(({ index }) => index === choice.index);
      if (choice.finish_reason !== null && !isKnown) endedChoices.push(choice);
    }
    this.noteCap(piece.choices);
    if (piece.choices.includes(capMark) && this.cap === "unfunded") this.cappedPiece = piece;
  }

  private noteCap(choices: string): void {
    if (!choices.includes(capMark)) return;
    this.cap = this.unitsAllowed < this.chat.terms.unitsMax ? "unfunded" : "capped";
  }

  takeAnswer(answer: ChatAnswer): { answer: ChatAnswer; reported: ChatUsage | null } {
    this.whole = answer;
    if (answer.text !== "" || answer.isContent === true) this.content = "written";
    this.noteCap(answer.choices);
    return { answer: this.cutToCap(answer), reported: answer.usage };
  }

  private cutToCap(answer: ChatAnswer): ChatAnswer {
    const { text, usage } = answer;
    const reported = usage === null ? 0 : usage.outputTokens - usage.reasoningTokens;
    // Too short to have passed the cap in any script.
    if (reported <= this.unitsCut && text.length <= this.unitsCut * charactersPerTokenMin) return answer;
    const tokens = createTokenMeter();
    tokens.add(text);
    const counted = tokens.tokensCounted();
    const surely = Math.max(tokens.tokensMin(), Math.min(reported, counted));
    if (surely <= this.unitsCut) return answer;
    this.cap = "passed";
    return cutAnswer(answer, Math.floor((text.length * this.unitsCut) / counted));
  }

  written(): number {
    return this.tokens?.tokens() ?? 0;
  }

  writtenMax(): number {
    return this.tokens?.tokensMax() ?? 0;
  }

  isPastCap(): boolean {
    return this.cap === "passed";
  }

  /** An upstream fault that an operator can act on. */
  findNotice({ outputTokens, isCounted }: ChargedUsage): UpstreamNotice | null {
    if (this.cap === "passed") return "cap-ignored";
    const written = this.tokens === null ? 0 : Math.min(this.textPieces, this.tokens.tokensCounted());
    const delivered = Math.max(written, Math.floor((this.whole?.text.length ?? 0) / charactersPerTokenMax));
    return !isCounted && delivered > tokensWorthNotice && delivered > outputTokens * 2 ? "usage-too-low" : null;
  }

  isComplete(): boolean {
    return this.endedChoices.length >= this.chat.terms.choices;
  }

  /** Why this piece ends its choice, unless the model ended it. */
  explainEnd(piece: ChatPiece): StoppedBy | null {
    return piece === this.cappedPiece ? "insufficient_balance" : null;
  }

  listOpenChoices(): number[] {
    const indexes = Array.from({ length: this.chat.terms.choices }, (_, index) => index);
    return indexes.filter((index) => !this.endedChoices.some((ended) => ended.index === index));
  }

  /** How the choices ended, in that order. Parses a non-streaming answer only on demand. */
  listFinishReasons(): string[] {
    if (this.whole === null) return this.endedChoices.map(({ finish_reason: reason }) => String(reason));
    return Array.from(this.whole.choices.matchAll(/"finish_reason":"(\w+)"/g), ([, reason = ""]) => reason);
  }

  /**
   * Whether the cost of an answer that stops now is known. A complete answer is still waiting for its usage report. With
   * continuous reports the cost is the last report. Otherwise all output must be visible and the input countable.
   */
  isCostKnown(): boolean {
    const { terms, size } = this.chat;
    if (this.isComplete()) return false;
    if (this.reporting === "current") return true;
    return terms.isVisible && (size.isText || this.lastUsage !== null);
  }

  /**
   * Charges reported usage, whatever the answer contains; the ledger keeps it within the hold. An interrupted answer costs
   * the report that came with its last piece, or else our own count.
   */
  conclude(
    rule: ChargeRule,
    { reported, unitsHeld, hasHungUp }: { reported: ChatUsage | null; unitsHeld: number; hasHungUp: boolean },
  ): { usage: ChargedUsage; isDue: boolean; stoppedBy: StoppedBy | null } {
    const final = this.believe(reported);
    const believed = final ?? (this.reporting === "current" ? this.lastUsage : null);
    const isHoldDue = rule === "reported-or-hold" && believed === null;
    const usage: ChargedUsage =
      believed !== null
        ? chargeReported(believed, this.chat.terms.kinds)
        : isHoldDue
          ? this.describeHold(unitsHeld)
          : this.countUsage();
    if (hasHungUp) usage.hasHungUp = true;
    if (usage.cachedInputTokens > 0) usage.cacheSaving = computeCacheSaving(billChat(this.chat.terms.rates, usage));
    return {
      usage,
      isDue: this.isDue(rule, final),
      stoppedBy: this.cap === "unfunded" ? "insufficient_balance" : null,
    };
  }

  private isDue(rule: ChargeRule, reported: ChatUsage | null): boolean {
    switch (rule) {
      case "nothing":
        return false;
      case "if-written":
        return this.content === "written" || (reported !== null && reported.inputTokens + reported.outputTokens > 0);
      case "always":
      case "reported-or-hold":
        return true;
    }
  }

  /** Returns the report if it is plausible, else `null`: an upstream may report anything. */
  private believe(reported: ChatUsage | null): ChatUsage | null {
    if (reported === null || this.canCharge(reported)) return reported;
    const { logger, requestId, modelId } = this.chat;
    const { inputTokens, outputTokens } = reported;
    const fields = { request_id: requestId, model: modelId, input_tokens: inputTokens, output_tokens: outputTokens };
    logger.warn(fields, "upstream reported impossible usage");
    return null;
  }

  private canCharge(usage: ChatUsage): boolean {
    const { terms } = this.chat;
    return terms.isFree ? isPlausible(usage) : isChargeable(terms.rates, usage);
  }

  /** The whole hold as usage, for calls whose real usage will never be known. */
  private describeHold(unitsHeld: number): ChargedUsage {
    const { terms } = this.chat;
    return terms.isFree ? createUsage(0, 0) : createUsage(terms.inputTokensMax, unitsHeld);
  }

  /** Our own count, if the upstream reported nothing or not to the end. */
  private countUsage(): ChargedUsage {
    const { request, size, terms } = this.chat;
    const { lastUsage } = this;
    const tokens = this.tokens ?? createTokenMeter();
    if (this.whole !== null) tokens.add(this.whole.text);
    // Most vendors send one token per piece: for dense scripts that is more accurate than characters.
    const seen = Math.max(tokens.tokens(), Math.min(this.textPieces, tokens.tokens() * densityMax));
    // Output beyond the cap is not charged.
    const written = Math.min(seen, terms.unitsMax);
    const counted = createUsage(lastUsage?.inputTokens ?? countInput(request, size), written);
    if (lastUsage === null) return counted;
    const { cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, inputAudioTokens } = limitToRequested(
      lastUsage,
      terms.kinds,
    );
    return { ...counted, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, inputAudioTokens };
  }
}
