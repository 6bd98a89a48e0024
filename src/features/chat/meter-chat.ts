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
import { billChat, type ChargedUsage, createUsage, isChargeable, isPlausible, limitToAsked } from "./quote-chat.ts";

/** Our own count never makes more than this many tokens of what the letters of a text come to. */
const densityMax = 2;

/** A choice of a streamed answer, as far as its end is told by it. */
type EndedChoice = { index: number; finish_reason: unknown };

export type MeteredChat = {
  request: ChatRequest;
  size: InputSize;
  terms: ChatTerms;
  /** For reports that cannot be true. */
  logger: Logger;
  requestId: string;
  modelId: string;
};

/**
 * What an upstream has reported of its output while it writes. Many vendors report once at the start what they have read;
 * one that reports again does so as it goes.
 *
 * | state     | what is true                                                   |
 * |-----------|----------------------------------------------------------------|
 * | `none`    | no output was reported                                         |
 * | `once`    | one report                                                     |
 * | `current` | it reports as it goes, and the last piece came with a report   |
 * | `behind`  | it reports as it goes, and more has come since the last report |
 */
type Reporting = "none" | "once" | "current" | "behind";

const afterGrowth: Readonly<Record<Reporting, Reporting>> = {
  none: "once",
  once: "current",
  current: "current",
  behind: "current",
};

/**
 * | state     | what is true                                                            |
 * |-----------|-------------------------------------------------------------------------|
 * | `empty`   | nothing that a caller could see has come                                |
 * | `written` | something has come: text, a call, an image, an item of any type         |
 */
type Content = "empty" | "written";

/**
 * | state    | what is true                                                     |
 * |----------|------------------------------------------------------------------|
 * | `open`   | no choice has ended at the cap                                   |
 * | `capped` | a choice has ended at the cap that the model or the caller set   |
 * | `poor`   | a choice has ended at the cap that money made                    |
 * | `passed` | the upstream wrote more than the cap that it was given           |
 */
type Cap = "open" | "capped" | "poor" | "passed";

/** How far an upstream may pass its cap before it is stopped: tokenizers and last words differ. */
const capPercent = 110;
/** Less output is not worth a warning about the upstream's report. */
const tokensWorthNotice = 200;
/** The fewest and the most characters that a token of an answer has on average, in any script. */
const charactersPerTokenMin = 3;
const charactersPerTokenMost = 12;

const capMark = '"finish_reason":"length"';

/** Counts the tokens of one answer as it comes, and decides what is charged for it. */
export class ChatMeter implements CallMeter<ChatKinds> {
  private readonly chat: MeteredChat;
  private unitsAllowed = 0;
  /** Beyond so many units an upstream has passed its cap. */
  private unitsCut = 0;
  private tokens: TokenMeter | null = null;
  private content: Content = "empty";
  private cap: Cap = "open";
  private reporting: Reporting = "none";
  private lastUsage: ChatUsage | null = null;
  private textPieces = 0;
  /** A non-streaming answer; counted only if its upstream told nothing. */
  private whole: ChatAnswer | null = null;
  private readonly endedChoices: EndedChoice[] = [];
  /** The piece that ended at a cap which money made. */
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
      const { text, choices, usage, isGoingOn } = piece;
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
      if (isGoingOn !== true && choices.includes('"finish_reason":"')) this.noteEnds(piece);
    }
    return count;
  }

  /**
   * How many tokens have been written for certain. Characters alone say little, because tokenizers differ; two signs that
   * agree are enough: vendors send a token a piece or report as they go, and our own count says the same.
   */
  private countSurely(tokens: TokenMeter): number {
    const least = tokens.tokensMin();
    const told = this.lastUsage === null ? 0 : this.lastUsage.outputTokens - this.lastUsage.reasoningTokens;
    const signed = told > this.textPieces ? told : this.textPieces;
    if (signed <= least) return least;
    const counted = tokens.tokensCounted();
    return Math.max(least, signed < counted ? signed : counted);
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
    if (piece.choices.includes(capMark) && this.cap === "poor") this.cappedPiece = piece;
  }

  private noteCap(choices: string): void {
    if (!choices.includes(capMark)) return;
    this.cap = this.unitsAllowed < this.chat.terms.unitsMax ? "poor" : "capped";
  }

  takeAnswer(answer: ChatAnswer): { answer: ChatAnswer; reported: ChatUsage | null } {
    this.whole = answer;
    if (answer.text !== "" || answer.isContent === true) this.content = "written";
    this.noteCap(answer.choices);
    return { answer: this.cutToCap(answer), reported: answer.usage };
  }

  private cutToCap(answer: ChatAnswer): ChatAnswer {
    const { text, usage } = answer;
    const told = usage === null ? 0 : usage.outputTokens - usage.reasoningTokens;
    // So short a text cannot have passed the cap, whatever its script.
    if (told <= this.unitsCut && text.length <= this.unitsCut * charactersPerTokenMin) return answer;
    const tokens = createTokenMeter();
    tokens.add(text);
    const counted = tokens.tokensCounted();
    const surely = Math.max(tokens.tokensMin(), Math.min(told, counted));
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

  /** What the upstream did wrong, as far as an operator can do something about it. */
  findNotice({ outputTokens, isCounted }: ChargedUsage): UpstreamNotice | null {
    if (this.cap === "passed") return "cap-ignored";
    const written = this.tokens === null ? 0 : Math.min(this.textPieces, this.tokens.tokensCounted());
    const delivered = Math.max(written, Math.floor((this.whole?.text.length ?? 0) / charactersPerTokenMost));
    return !isCounted && delivered > tokensWorthNotice && delivered > outputTokens * 2 ? "usage-too-low" : null;
  }

  isComplete(): boolean {
    return this.endedChoices.length >= this.chat.terms.choices;
  }

  /** Why this piece is the last of its choice, where that is not the model's doing. */
  explainEnd(piece: ChatPiece): StoppedBy | null {
    return piece === this.cappedPiece ? "insufficient_balance" : null;
  }

  listOpenChoices(): number[] {
    const indexes = Array.from({ length: this.chat.terms.choices }, (_, index) => index);
    return indexes.filter((index) => !this.endedChoices.some((ended) => ended.index === index));
  }

  /** How the choices ended, in the order of their ends; read from a non-streaming answer only where somebody asks. */
  listFinishReasons(): string[] {
    if (this.whole === null) return this.endedChoices.map(({ finish_reason: reason }) => String(reason));
    return Array.from(this.whole.choices.matchAll(/"finish_reason":"(\w+)"/g), ([, reason = ""]) => reason);
  }

  /**
   * A complete answer still has its usage to come. An upstream that reports as it writes has cost its last report; a visible
   * answer has cost what was seen, with the input where that can be counted here.
   */
  isCostKnown(): boolean {
    const { terms, size } = this.chat;
    if (this.isComplete()) return false;
    if (this.reporting === "current") return true;
    return terms.isVisible && (size.isText || this.lastUsage !== null);
  }

  /**
   * Reported usage is charged, whatever the answer contains; the ledger keeps it within the hold. An answer that broke off
   * costs what its upstream reported with the last piece, or else our own count of what came.
   */
  conclude(
    rule: ChargeRule,
    { reported, unitsHeld, hasHungUp }: { reported: ChatUsage | null; unitsHeld: number; hasHungUp: boolean },
  ): { usage: ChargedUsage; isDue: boolean; stoppedBy: StoppedBy | null } {
    const final = this.believe(reported);
    const told = final ?? (this.reporting === "current" ? this.lastUsage : null);
    const isHoldDue = rule === "reported-or-hold" && told === null;
    const usage: ChargedUsage =
      told !== null
        ? { ...limitToAsked(told, this.chat.terms.kinds), isCounted: false }
        : isHoldDue
          ? this.describeHold(unitsHeld)
          : this.countUsage();
    if (hasHungUp) usage.hasHungUp = true;
    if (usage.cachedInputTokens > 0) usage.cacheSaving = computeCacheSaving(billChat(this.chat.terms.rates, usage));
    return {
      usage,
      isDue: this.isDue(rule, final),
      stoppedBy: this.cap === "poor" ? "insufficient_balance" : null,
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

  /** What an upstream reported, if a bill can be made of it: it may report anything. */
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

  /** All that is on hold, as usage: for calls of which nobody will ever tell what they used. */
  private describeHold(unitsHeld: number): ChargedUsage {
    const { terms } = this.chat;
    return terms.isFree ? createUsage(0, 0) : createUsage(terms.inputTokensMax, unitsHeld);
  }

  /** The upstream did not tell, or not to the end. */
  private countUsage(): ChargedUsage {
    const { request, size, terms } = this.chat;
    const { lastUsage } = this;
    const tokens = this.tokens ?? createTokenMeter();
    if (this.whole !== null) tokens.add(this.whole.text);
    // Most vendors send a token a piece, which tells more than the letters of a text that is dense.
    const seen = Math.max(tokens.tokens(), Math.min(this.textPieces, tokens.tokens() * densityMax));
    // An upstream that writes beyond the cap it was given is not paid for that.
    const written = Math.min(seen, terms.unitsMax);
    const counted = createUsage(lastUsage?.inputTokens ?? countInput(request, size), written);
    if (lastUsage === null) return counted;
    const { cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, inputAudioTokens } = limitToAsked(
      lastUsage,
      terms.kinds,
    );
    return { ...counted, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, inputAudioTokens };
  }
}
