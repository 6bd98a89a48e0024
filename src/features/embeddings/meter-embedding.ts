import type { EmbeddingAnswer, EmbeddingInput } from "../../providers/embedding.ts";
import type { CallMeter, ChargeRule } from "../calls/index.ts";
import type { EmbeddingKinds } from "./embedding-kinds.ts";
import { countInput, type EmbeddedUsage, type EmbeddingSize } from "./quote-embedding.ts";

/** Decides what is charged for one call: all of its input, once there are vectors. */
export class EmbeddingMeter implements CallMeter<EmbeddingKinds> {
  private readonly input: EmbeddingInput;
  private readonly size: EmbeddingSize;
  private hasAnswer = false;

  constructor(input: EmbeddingInput, size: EmbeddingSize) {
    this.input = input;
    this.size = size;
  }

  begin(): void {}

  take(): number {
    return 0;
  }

  takeAnswer(answer: EmbeddingAnswer): { answer: EmbeddingAnswer; reported: number | null } {
    this.hasAnswer = true;
    return { answer, reported: answer.inputTokens };
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

  /** The whole answer arrives at once, with its usage. */
  isCostKnown(): boolean {
    return false;
  }

  conclude(
    rule: ChargeRule,
    { reported, hasHungUp }: { reported: number | null; hasHungUp: boolean },
  ): { usage: EmbeddedUsage; isDue: boolean; stoppedBy: null } {
    const isDue = rule === "if-written" ? this.hasAnswer : rule !== "nothing";
    return { usage: { ...this.countTokens(reported), hasHungUp }, isDue, stoppedBy: null };
  }

  /** More than was sent no upstream can have read: such a report is no report. Of a call without an answer the hold is due. */
  private countTokens(reported: number | null): Pick<EmbeddedUsage, "inputTokens" | "isCounted"> {
    const { input, size, hasAnswer } = this;
    if (reported !== null && reported <= size.tokensMax) return { inputTokens: reported, isCounted: false };
    return { inputTokens: hasAnswer ? countInput(input, size) : size.tokensMax, isCounted: true };
  }
}
