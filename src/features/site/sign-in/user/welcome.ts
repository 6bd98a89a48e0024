import { AppError } from "../../../../platform/errors/app-error.ts";
import type { Logger } from "../../../../platform/observability/logger.ts";
import { type BeginAttempt, limitWelcomes } from "../throttle.ts";

/** Whether an account that is opened from this address may begin with the welcome credit. */
export type MayWelcome = (address: string) => Promise<boolean>;

type WelcomeDependencies = { beginAttempt: BeginAttempt; logger: Logger; dailyMax: number };

/** Counted before the account is opened, outside of its transaction. An account beyond the limits begins without credit. */
export function createWelcome({ beginAttempt, logger, dailyMax }: WelcomeDependencies): MayWelcome {
  return async (address) => {
    if (dailyMax === 0) return false;
    try {
      await beginAttempt(limitWelcomes(address, dailyMax));
      return true;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "too_many_attempts") throw error;
      logger.warn({ address }, "an account begins without the welcome credit: too many got it within a day");
      return false;
    }
  };
}
