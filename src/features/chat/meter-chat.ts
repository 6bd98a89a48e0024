import { computeCacheSaving } from "../../lib/bill.ts";
import { createTokenMeter, type TokenMeter } from "../../lib/token-meter.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatAnswer, ChatPiece, ChatUsage } from "../../providers/contract.ts";
import type { CallMeter, ChargeRule, HoldCover, StoppedBy } from "../calls/index.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import type { ChatTerms } from "./chat-terms.ts";
import { countInput, type InputSize } from "./measure-input.ts";
import { billChat, type ChargedUsage, createUsage, isChargeable, isPlausible, limitToAsked } from "./quote-chat.ts";

/** Our own count never makes more than this many tokens of what the letters of a text come to. */
const densityMax = 2;

/** Many vendors report once at the start what they have read; one that goes on reporting does so as it writes. */
const usageReportsMin = 2;

/** How far vendors may count beyond our bounds: images and hidden instructions are theirs to measure. */
const boundsFactor = 4;
const tokensBeyondBounds = 100_000;

/** A choice of a streamed answer, as far as its end is told by it. */
type EndedChoice = { index: number; finish_reason: unknown };

type MeteredChat = { request: ChatRequest; size: InputSize; terms: ChatTerms };

/** Counts the tokens of one answer as it comes, and decides what is charged for it. */
export class ChatMeter implements CallMeter<ChatKinds> {
  private readonly chat: MeteredChat;
  private unitsAllowed = 0;
  private tokens: TokenMeter | null = null;
  private hasWritten = false;
  /** A choice ended at the cap. */
  private hasReachedCap = false;
  private textPieces = 0;
  /** Of a non-streaming answer; counted only if its upstream told nothing. */
  private wholeText = "";
  private wholeChoices = "";
  private lastUsage: ChatUsage | null = null;
  /** How often the upstream reported more output than before, and whether it did so with the last piece. */
  private usageReports = 0;
  private isUsageFresh = false;
  private readonly endedChoices: EndedChoice[] = [];
  /** The piece that ended at a cap which money made. */
  private cappedPiece: ChatPiece | null = null;

  constructor(chat: MeteredChat) {
    this.chat = chat;
  }

  begin(unitsMax: number): void {
    this.unitsAllowed = unitsMax;
  }

  take(pieces: readonly ChatPiece[], cover: HoldCover): number {
    this.tokens ??= createTokenMeter();
    let count = 0;
    for (const piece of pieces) {
      const { text, choices, usage, isGoingOn } = piece;
      if (text !== "") {
        if (cover.isBeyond()) break;
        this.tokens.add(text);
        this.hasWritten = true;
        this.textPieces += 1;
      }
      count += 1;
      this.isUsageFresh = usage !== undefined && this.canCharge(usage) && this.takeUsage(usage, this.tokens);
      if (isGoingOn !== true && choices.includes('"finish_reason":"')) this.noteEnds(piece);
    }
    return count;
  }

  /** Answers whether it tells of more output than before. */
  private takeUsage(usage: ChatUsage, tokens: TokenMeter): boolean {
    const hasGrown = usage.outputTokens > (this.lastUsage?.outputTokens ?? 0);
    if (hasGrown) this.usageReports += 1;
    this.lastUsage = usage;
    tokens.report(usage.outputTokens);
    return hasGrown;
  }

  private noteEnds(piece: ChatPiece): void {
    const { endedChoices } = this;
    for (const choice of JSON.parse(piece.choices) as EndedChoice[]) {
      const isKnown = endedChoices.some(({ index }) => index === choice.index);
      if (choice.finish_reason !== null && !isKnown) endedChoices.push(choice);
    }
    if (!piece.choices.includes('"finish_reason":"length"')) return;
    this.hasReachedCap = true;
    if (this.isShortOfMoney()) this.cappedPiece = piece;
  }

  takeAnswer({ choices, text, usage }: ChatAnswer): ChatUsage | null {
    this.wholeText = text;
    this.wholeChoices = choices;
    this.hasWritten = text !== "";
    this.hasReachedCap = choices.includes('"finish_reason":"length"');
    return usage;
  }

  written(): number {
    return this.tokens?.tokens() ?? 0;
  }

  writtenMax(): number {
    return this.tokens?.tokensMax() ?? 0;
  }

  isPastCap(): boolean {
    return false;
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
    if (this.wholeChoices === "") return this.endedChoices.map(({ finish_reason: reason }) => String(reason));
    return Array.from(this.wholeChoices.matchAll(/"finish_reason":"(\w+)"/g), ([, reason = ""]) => reason);
  }

  /**
   * A complete answer still has its usage to come. An upstream that reports as it writes has cost its last report; a visible
   * answer has cost what was seen, with the input where that can be counted here.
   */
  isCostKnown(): boolean {
    const { terms, size } = this.chat;
    if (this.isComplete()) return false;
    if (this.isReporting()) return true;
    return terms.isVisible && (size.isText || this.lastUsage !== null);
  }

  private isReporting(): boolean {
    return this.isUsageFresh && this.usageReports >= usageReportsMin;
  }

  conclude(
    rule: ChargeRule,
    { reported, unitsHeld, hasHungUp }: { reported: ChatUsage | null; unitsHeld: number; hasHungUp: boolean },
  ): { usage: ChargedUsage; isDue: boolean; stoppedBy: StoppedBy | null } {
    const told = reported ?? (hasHungUp && this.isReporting() ? this.lastUsage : null);
    const isReported = told !== null && this.canCharge(told);
    const isHoldDue = rule === "reported-or-hold" && !isReported;
    const usage: ChargedUsage = isReported
      ? { ...limitToAsked(told, this.chat.terms.kinds), isCounted: false }
      : isHoldDue
        ? this.describeHold(unitsHeld)
        : this.countUsage();
    if (hasHungUp) usage.hasHungUp = true;
    if (usage.cachedInputTokens > 0) usage.cacheSaving = computeCacheSaving(billChat(this.chat.terms.rates, usage));
    const isSpent = this.hasReachedCap && isReported;
    const isDue = rule === "always" || (rule !== "nothing" && (this.hasWritten || isHoldDue || isSpent));
    const isCapped = this.isShortOfMoney() && this.hasReachedCap;
    return { usage, isDue, stoppedBy: isCapped ? "insufficient_balance" : null };
  }

  private isShortOfMoney(): boolean {
    return this.unitsAllowed < this.chat.terms.unitsMax;
  }

  /** Whether a bill can be made of what an upstream reported: it may report anything. */
  private canCharge(usage: ChatUsage): boolean {
    const { terms } = this.chat;
    return terms.isFree ? isPlausible(usage) : isWithinReason(terms, usage) && isChargeable(terms.rates, usage);
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
    tokens.add(this.wholeText);
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

/** More output than the cap that the upstream was given, by far, or more input than was sent, cannot be true. */
function isWithinReason({ inputTokensMax, unitsMax }: ChatTerms, usage: ChatUsage): boolean {
  return (
    usage.inputTokens <= inputTokensMax * boundsFactor + tokensBeyondBounds &&
    usage.outputTokens <= unitsMax * boundsFactor + tokensBeyondBounds
  );
}
