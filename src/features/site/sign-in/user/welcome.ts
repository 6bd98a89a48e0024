import { AppError } from "../../../../platform/errors/app-error.ts";
import type { SiteDependencies } from "../../site-dependencies.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { limitWelcomes } from "../throttle.ts";
import type { OpenAccount } from "./user.ts";
import { insertWelcomedMailbox } from "./user-store.ts";

/** Counted before the account is opened, outside its transaction. Accounts beyond the limits get no credit. */
export function createWelcome({
  beginAttempt,
  logger,
  dailyMax,
}: Pick<SiteDependencies, "beginAttempt" | "logger"> & { dailyMax: number }): SignInDependencies["mayWelcome"] {
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

/** Opens accounts; each mailbox gets the credit once, recorded in the same transaction. */
export function welcomeOnce({ clock, logger }: SiteDependencies, openAccount: OpenAccount): OpenAccount {
  return async (tx, person) => {
    const isWelcome = person.isWelcome && (await insertWelcomedMailbox(tx, person.email, clock.now()));
    if (person.isWelcome && !isWelcome) logger.info("welcome credit withheld: mailbox already had it");
    await openAccount(tx, { ...person, isWelcome });
  };
}
