import type { Mailer } from "../../../platform/mail/create-mailer.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import type { SiteSession } from "./session/site-session.ts";
import { composeChangeMail } from "./sign-in-mails.ts";

/** Logs the change and mails the owner, who may not have made it. */
export type NotifyChange = (owner: Pick<SiteSession, "userId" | "email">, change: string) => void;

export function createChangeNotifier(logger: Logger, mailer: Pick<Mailer, "send">, siteUrl: string): NotifyChange {
  return ({ userId, email }, change) => {
    logger.info({ user_id: userId, change }, "sign-in method changed");
    mailer.send(composeChangeMail({ to: email, change, siteUrl }));
  };
}
