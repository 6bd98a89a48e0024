import { AppError } from "../../../platform/errors/app-error.ts";
import type { Logger } from "../../../platform/observability/logger.ts";

/**
 * What is done after the answer is out, so that how long an answer takes tells nothing about whose address was asked
 * for. One piece after another, in the order in which they were asked for.
 */
export type BackgroundWork = {
  /** Takes a piece on and returns at once. Refuses it, before anybody has looked at it, where too many wait. */
  begin(name: string, work: () => Promise<void>): void;
  /** Resolves when all that was begun before is done. */
  settled(): Promise<void>;
};

const waitingMax = 1000;

export function createBackgroundWork({ logger }: { logger: Logger }): BackgroundWork {
  let last = Promise.resolve();
  let waiting = 0;

  async function run(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // Whoever asked was answered already, and asks again when no mail comes.
      logger.error({ work: name, error }, "background work failed");
    } finally {
      waiting -= 1;
    }
  }

  return {
    begin(name, work) {
      if (waiting >= waitingMax) {
        throw new AppError("overloaded", "Too many people ask for mails at the moment. Try again shortly.");
      }
      waiting += 1;
      last = last.then(() => run(name, work));
    },
    settled: () => last,
  };
}
