import type { SiteSession } from "./session/site-session.ts";
import { composeChangeMail } from "./sign-in-mails.ts";
import type { SignInParts } from "./sign-in-parts.ts";

/** Tells the log, and the owner, who may not be the one who did it. */
export function announceChange(
  { logger, mailer, siteUrl }: Pick<SignInParts, "logger" | "mailer" | "siteUrl">,
  { userId, email }: Pick<SiteSession, "userId" | "email">,
  change: string,
): void {
  logger.info({ user_id: userId, change }, "a way to sign in was changed");
  mailer.send(composeChangeMail({ to: email, change, siteUrl }));
}
