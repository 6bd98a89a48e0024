import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { createRegistry } from "../../lib/registry.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { type DoubtfulCharge, type Ledger, withdrawCharge } from "../ledger/index.ts";

/**
 * Calls that were rejected because the ledger did not confirm their charge in time. Once the database is back, any charge
 * for them is refunded.
 */
export type Withdrawals = {
  add(doubtful: DoubtfulCharge): void;
  /** Tries the rest once more, and logs what stays in doubt. */
  close(): Promise<void>;
};

const retryMsUsual = 1000;
/** The expiry of a hold that is written only to be released. */
const holdMs = 60_000;
const waitingMax = 100_000;

export function createWithdrawals({
  ledger,
  clock,
  logger,
  retryMs = retryMsUsual,
}: {
  ledger: Ledger;
  clock: Clock;
  logger: Logger;
  retryMs?: number;
}): Withdrawals {
  const running = createRegistry<Promise<void>>();
  const closing = new AbortController();
  let count = 0;

  async function attempt({ hold, ...rest }: DoubtfulCharge): Promise<boolean> {
    const expiresAt = new Date(clock.now().getTime() + holdMs);
    try {
      const outcome = await withdrawCharge(ledger.apply, { ...rest, hold: { ...hold, expiresAt } });
      logger.info({ ...describe(hold), outcome }, "charge of a rejected call withdrawn");
      return true;
    } catch (error) {
      // Retry only outages; the operator has to resolve any other error.
      const isOver = closing.signal.aborted || !isOutage(error);
      if (isOver) giveUp(hold, error);
      return isOver;
    }
  }

  async function withdraw(doubtful: DoubtfulCharge): Promise<void> {
    while (!(await attempt(doubtful))) await wait(retryMs, undefined, { signal: closing.signal }).catch(() => {});
  }

  function giveUp(hold: DoubtfulCharge["hold"], error: unknown): void {
    logger.error({ ...describe(hold), error }, "charge of a rejected call in doubt: refund it if it exists");
  }

  return {
    add(doubtful) {
      if (count >= waitingMax) {
        giveUp(doubtful.hold, new Error("Too many charges are in doubt."));
        return;
      }
      count += 1;
      const withdrawal = withdraw(doubtful);
      const leave = running.add(withdrawal);
      const onOver = (): void => {
        count -= 1;
        leave();
      };
      withdrawal.then(onOver, onOver);
    },
    async close() {
      closing.abort();
      await Promise.all(running.list());
    },
  };
}

function isOutage(error: unknown): boolean {
  return error instanceof AppError && error.code === "overloaded";
}

function describe({ accountId, id, cause }: DoubtfulCharge["hold"]): Record<string, unknown> {
  return { account_id: accountId, hold_id: id, request_id: cause.id };
}
