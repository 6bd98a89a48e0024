import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "./logger.ts";

/** Logs an operation that is retried: once when it starts to fail and once when it succeeds again. */
export type OutageLog = {
  onTrouble(error: unknown): void;
  /** Call it on every success. */
  onRecovery(): void;
  isOngoing(): boolean;
};

type OutageLogOptions = {
  logger: Logger;
  clock: Pick<Clock, "monotonicMs">;
  begins: string;
  ends: string;
};

export function createOutageLog({ logger, clock, begins, ends }: OutageLogOptions): OutageLog {
  let outage: { sinceMs: number; tries: number } | null = null;
  return {
    onTrouble(error) {
      if (outage !== null) {
        outage.tries += 1;
        return;
      }
      outage = { sinceMs: clock.monotonicMs(), tries: 1 };
      logger.warn({ error }, begins);
    },
    onRecovery() {
      if (outage === null) return;
      const { sinceMs, tries } = outage;
      outage = null;
      logger.info({ after_ms: Math.round(clock.monotonicMs() - sinceMs), failed_tries: tries }, ends);
    },
    isOngoing: () => outage !== null,
  };
}
