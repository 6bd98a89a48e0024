import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import type { MasterKey } from "../../../platform/config/master-key.ts";
import type { Counters } from "../../../platform/counters/counters.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { Mailer } from "../../../platform/mail/create-mailer.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import { createBackgroundWork } from "./background-work.ts";
import { addOutboxRoutes } from "./outbox-routes.ts";
import { addPasskeyRoutes } from "./passkey/passkey-routes.ts";
import { createPasswords } from "./password/create-passwords.ts";
import { addPasswordRoutes } from "./password/password-routes.ts";
import { createOidcProvider, type OidcSettings } from "./provider/oidc-provider.ts";
import { addProviderRoutes, type ShowMessage } from "./provider/provider-routes.ts";
import { addServiceRoutes } from "./provider/service-routes.ts";
import { addTotpRoutes } from "./second-factor/totp-routes.ts";
import { addSessionRoutes } from "./session/session-routes.ts";
import { deleteDeadSessions } from "./session/session-store.ts";
import { limitSessions, readSession } from "./session/sessions.ts";
import { createSiteCookies, type RequestHeaders } from "./session/site-cookies.ts";
import type { SiteSession } from "./session/site-session.ts";
import type { SignInParts } from "./sign-in-parts.ts";
import type { PaymentOffer } from "./sign-in-route-parts.ts";
import { addSignInRoutes } from "./sign-in-routes.ts";
import { addSiteInfoRoutes } from "./site-info-routes.ts";
import { addSignUpRoutes } from "./user/sign-up-routes.ts";
import { deleteExpiredTokens } from "./user/user-token-store.ts";

export type SignIn = {
  /** Adds everything about signing in to the console API. */
  addRoutes(consoleApi: HttpServer): void;
  /** Who these headers belong to, or `null`. */
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
  /** Finishes what was promised to people who have their answer already. */
  close(): Promise<void>;
};

export type CreateSignInParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  logger: Logger;
  mailer: Mailer;
  masterKey: MasterKey;
  siteUrl: string;
  currency: string;
  baseUrl: string;
  payments: PaymentOffer;
  signUp: SignInParts["signUp"];
  providers: readonly OidcSettings[];
  /** What it takes to read the mails that are not sent; `null` where they cannot be read on the site. */
  outboxSecret: string | null;
  openAccount: SignInParts["openAccount"];
  showMessage: ShowMessage;
};

export function createSignIn({ masterKey, providers, ...given }: CreateSignInParts): SignIn {
  const cookies = createSiteCookies(given.siteUrl);
  const background = createBackgroundWork(given);
  const parts = {
    ...given,
    background,
    cookies,
    passwords: createPasswords(),
    keys: { totp: masterKey.derive("totp-secrets"), backupCodes: masterKey.derive("backup-codes") },
    providers: providers.map((settings) => createOidcProvider(settings, given.clock)),
  };
  return {
    addRoutes(consoleApi) {
      addSiteInfoRoutes(consoleApi, parts);
      const { outboxSecret } = parts;
      if (outboxSecret !== null) addOutboxRoutes(consoleApi, { ...parts, outboxSecret });
      addSignUpRoutes(consoleApi, parts);
      addSignInRoutes(consoleApi, parts);
      addSessionRoutes(consoleApi, parts);
      addPasswordRoutes(consoleApi, parts);
      addTotpRoutes(consoleApi, parts);
      addPasskeyRoutes(consoleApi, parts);
      addProviderRoutes(consoleApi, parts);
      addServiceRoutes(consoleApi, parts);
    },
    async readSession(headers) {
      const token = cookies.read(headers, "session");
      return token === null ? null : await readSession(parts, token);
    },
    close: () => background.settled(),
  };
}

/** Sessions and links whose time is over are of no use to anybody. */
export async function forgetOldSignIns(database: Database, now: Date): Promise<void> {
  await deleteDeadSessions(database, limitSessions(now));
  await deleteExpiredTokens(database, now);
}
