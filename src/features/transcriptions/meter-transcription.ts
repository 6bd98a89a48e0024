import { createTokenMeter } from "../../lib/token-meter.ts";
import type { Transcript, TranscriptPiece, TranscriptUsage } from "../../providers/transcription.ts";
import type { CallMeter, ChargeRule } from "../calls/index.ts";
import { boundUsage, countUsage, isPricedByTokens, type QuotedTranscription } from "./quote-transcription.ts";
import type { TranscribedUsage, TranscriptionKinds } from "./transcription-kinds.ts";

/**
 * Charges for the recording that an upstream was given: all of it, whether anybody reads to the end or not. Where the
 * price is by tokens, for those that the upstream reports.
 */
export class TranscriptionMeter implements CallMeter<TranscriptionKinds> {
  private readonly quoted: QuotedTranscription;
  private readonly tokens = createTokenMeter();
  private hasWritten = false;

  constructor(quoted: QuotedTranscription) {
    this.quoted = quoted;
  }

  begin(): void {}

  take(pieces: readonly TranscriptPiece[]): number {
    for (const piece of pieces) if (piece.kind === "text") this.count(piece.text);
    return pieces.length;
  }

  takeAnswer(answer: Transcript): { answer: Transcript; reported: TranscriptUsage | null } {
    this.count(answer.text);
    return { answer, reported: answer.usage };
  }

  private count(text: string): void {
    this.tokens.add(text);
    if (text !== "") this.hasWritten = true;
  }

  written(): number {
    return 0;
  }

  writtenMax(): number {
    return 0;
  }

  isComplete(): boolean {
    return false;
  }

  isPastCap(): boolean {
    return false;
  }

  /** The length of a recording is known; its tokens are known from the upstream's report only. */
  isCostKnown(): boolean {
    return !isPricedByTokens(this.quoted);
  }

  conclude(
    rule: ChargeRule,
    { reported, hasHungUp }: { reported: TranscriptUsage | null; hasHungUp: boolean },
  ): { usage: TranscribedUsage; isDue: boolean; stoppedBy: null } {
    const { quoted } = this;
    const isHoldDue = rule === "reported-or-hold" && reported === null;
    const counted = isHoldDue ? quoted.tokensMax : countUsage(quoted, this.tokens.tokens());
    const tokens = boundUsage(quoted, reported ?? counted);
    const usage = { ...tokens, seconds: quoted.seconds, isCounted: reported === null, hasHungUp };
    const isDue = rule === "if-written" ? this.hasWritten : rule !== "nothing";
    return { usage, isDue, stoppedBy: null };
  }
}
