import type { Clock } from "../../../../lib/clock.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { Logger } from "../../../../platform/observability/logger.ts";
import { type BeginAttempt, limitWelcomes } from "../throttle.ts";
import type { OpenAccount } from "./open-account.ts";
import { insertWelcomedMailbox } from "./welcomed-mailbox-store.ts";

/** Whether an account opened from this address may get the welcome credit. */
export type MayWelcome = (address: string) => Promise<boolean>;

type WelcomeDependencies = { beginAttempt: BeginAttempt; logger: Logger; dailyMax: number };

/** Counted before the account is opened, outside its transaction. Accounts beyond the limits get no credit. */
export function createWelcome({ beginAttempt, logger, dailyMax }: WelcomeDependencies): MayWelcome {
  return async (address) => {
    if (dailyMax === 0) return false;
    try {
      await beginAttempt(limitWelcomes(address, dailyMax));
      return true;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "too_many_attempts") throw error;
      logger.warn({ address }, "welcome credit withheld: daily limit reached");
      return false;
    }
  };
}

type OnceDependencies = { clock: Clock; logger: Logger; openAccount: OpenAccount };

/** Opens accounts; each mailbox gets the credit once, recorded in the same transaction. */
export function welcomeOnce({ clock, logger, openAccount }: OnceDependencies): OpenAccount {
  return async (tx, person) => {
    const isWelcome = person.isWelcome && (await insertWelcomedMailbox(tx, person.email, clock.now()));
    if (person.isWelcome && !isWelcome) logger.info("welcome credit withheld: mailbox already had it");
    await openAccount(tx, { ...person, isWelcome });
  };
}
