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
  /** It is known whether more is set aside: time to look again. */
  onKnown(): void;
  onTrouble(error: unknown): void;
};

export function createHoldWatch({ payment, meter, outputTokensMax, onKnown, onTrouble }: HoldWatchParts): HoldWatch {
  let isExtending = false;
  let canGrow = true;

  function extend(): void {
    const coveredBefore = payment.covered();
    isExtending = true;
    payment.extend(Math.min(coveredBefore * 2, outputTokensMax)).then(() => {
      isExtending = false;
      canGrow = payment.covered() > coveredBefore;
      onKnown();
    }, onTrouble);
  }

  function isBeyond(): boolean {
    const covered = payment.covered();
    return covered < outputTokensMax && meter.tokens() >= covered;
  }

  return {
    isBeyond,
    look() {
      const covered = payment.covered();
      if (covered >= outputTokensMax) return "go-on";
      if (meter.tokens() * 2 >= covered && canGrow && !isExtending) extend();
      if (!isBeyond()) return "go-on";
      return isExtending ? "wait" : "stop";
    },
  };
}
