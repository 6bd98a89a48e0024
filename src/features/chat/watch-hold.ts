import type { TokenMeter } from "../../lib/token-meter.ts";
import type { ChatPayment } from "./pay-chat.ts";

/** Watches that a streamed answer does not outgrow what is set aside for it. */
export type HoldWatch = {
  /** Whether all that is on hold may have been written. */
  isBeyond(): boolean;
  /**
   * Extends the hold once three quarters of it may be used. Beyond all of it, an answer waits for that, or, where no more
   * is to be had, ends.
   */
  look(): "go-on" | "wait" | "stop";
};

type HoldWatchParts = {
  payment: Pick<ChatPayment, "covered" | "extend">;
  meter: Pick<TokenMeter, "tokens" | "tokensMax">;
  /** What the caller asked for, or the model gives. */
  outputTokensMax: number;
  /** What the upstream was told, at most as much. */
  cap: number;
  listener: HoldWatchListener;
};

export type HoldWatchListener = {
  /** It is known whether more is set aside: time to look again. */
  onHoldKnown(): void;
  onHoldTrouble(error: unknown): void;
};

export function createHoldWatch(parts: HoldWatchParts): HoldWatch {
  return new MeteredHold(parts);
}

/** A class, because there is one for each stream. */
class MeteredHold implements HoldWatch {
  private readonly parts: HoldWatchParts;
  private isExtending = false;
  private canGrow = true;

  constructor(parts: HoldWatchParts) {
    this.parts = parts;
  }

  isBeyond(): boolean {
    const { payment, meter, outputTokensMax, cap } = this.parts;
    const covered = payment.covered();
    if (covered >= outputTokensMax) return false;
    // An upstream that was told no more than is on hold stops by itself. Any other is stopped before it can pass the hold,
    // by however many tokens its tokenizer makes of what it has written.
    return (covered >= cap ? meter.tokens() : meter.tokensMax()) >= covered;
  }

  look(): "go-on" | "wait" | "stop" {
    const { payment, meter, outputTokensMax, cap } = this.parts;
    const covered = payment.covered();
    if (covered >= outputTokensMax) return "go-on";
    const isDue = covered < cap && meter.tokensMax() * 4 >= covered * 3;
    if (isDue && this.canGrow && !this.isExtending) this.extend();
    if (!this.isBeyond()) return "go-on";
    return this.isExtending ? "wait" : "stop";
  }

  private extend(): void {
    const { payment, cap, listener } = this.parts;
    const coveredBefore = payment.covered();
    this.isExtending = true;
    payment.extend(Math.min(coveredBefore * 2, cap)).then(
      () => {
        this.isExtending = false;
        this.canGrow = payment.covered() > coveredBefore;
        listener.onHoldKnown();
      },
      (error: unknown) => listener.onHoldTrouble(error),
    );
  }
}
