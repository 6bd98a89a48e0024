import { AppError } from "../../../platform/errors/app-error.ts";
import type { Logger } from "../../../platform/observability/logger.ts";

/** Work after the response, so response times do not reveal whether an address has an account. Runs sequentially. */
export type BackgroundWork = {
  /** Queues the work and returns at once. Throws if the queue is full, before any lookup. */
  begin(name: string, work: () => Promise<void>): void;
  /** Resolves when all queued work is done. */
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
      // The caller already has its response, and retries if no mail arrives.
      logger.error({ work: name, error }, "background work failed");
    } finally {
      waiting -= 1;
    }
  }

  return {
    begin(name, work) {
      if (waiting >= waitingMax) {
        throw new AppError("overloaded", "Too many e-mails are being requested. Try again shortly.");
      }
      waiting += 1;
      last = last.then(() => run(name, work));
    },
    settled: () => last,
  };
}
