import type { TokenMeter } from "../../lib/token-meter.ts";
import type { ChatPayment } from "./pay-chat.ts";

/** Watches that a streamed answer does not outgrow what is set aside for it. */
export type HoldWatch = {
  /** Whether all that is paid for has been written. */
  isBeyond(): boolean;
  /**
   * Sets more aside once half of the hold is used. Beyond all of it, an answer waits for that, or, where no more is to
   * be had, ends.
   */
  look(): "go-on" | "wait" | "stop";
};

type HoldWatchParts = {
  payment: Pick<ChatPayment, "covered" | "extend">;
  meter: Pick<TokenMeter, "tokens">;
  outputTokensMax: number;
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
    const { payment, meter, outputTokensMax } = this.parts;
    const covered = payment.covered();
    return covered < outputTokensMax && meter.tokens() >= covered;
  }

  look(): "go-on" | "wait" | "stop" {
    const { payment, meter, outputTokensMax } = this.parts;
    const covered = payment.covered();
    if (covered >= outputTokensMax) return "go-on";
    if (meter.tokens() * 2 >= covered && this.canGrow && !this.isExtending) this.extend();
    if (!this.isBeyond()) return "go-on";
    return this.isExtending ? "wait" : "stop";
  }

  private extend(): void {
    const { payment, outputTokensMax, listener } = this.parts;
    const coveredBefore = payment.covered();
    this.isExtending = true;
    payment.extend(Math.min(coveredBefore * 2, outputTokensMax)).then(
      () => {
        this.isExtending = false;
        this.canGrow = payment.covered() > coveredBefore;
        listener.onHoldKnown();
      },
      (error: unknown) => listener.onHoldTrouble(error),
    );
  }
}
