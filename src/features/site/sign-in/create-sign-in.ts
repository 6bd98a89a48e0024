import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import type { MasterKey } from "../../../platform/config/master-key.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { Mailer } from "../../../platform/mail/create-mailer.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import { createBackgroundWork } from "./background-work.ts";
import { createChangeNotifier } from "./notify-change.ts";
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
import { createSessions, limitSessions, readSession } from "./session/sessions.ts";
import { createSiteCookies, type RequestHeaders } from "./session/site-cookies.ts";
import type { SiteSession } from "./session/site-session.ts";
import { addSignInRoutes } from "./sign-in-routes.ts";
import { addSiteInfoRoutes } from "./site-info-routes.ts";
import type { BeginAttempt } from "./throttle.ts";
import type { OpenAccount } from "./user/open-account.ts";
import type { SignUpPolicy } from "./user/sign-up.ts";
import { addSignUpRoutes } from "./user/sign-up-routes.ts";
import { deleteExpiredTokens } from "./user/user-token-store.ts";
import { createWelcome, welcomeOnce } from "./user/welcome.ts";

export type SignIn = {
  addRoutes(consoleApi: HttpServer): void;
  /** The session of these headers, or `null`. */
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
  /** Finishes background work. */
  close(): Promise<void>;
};

type SignInOptions = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  logger: Logger;
  mailer: Mailer;
  beginAttempt: BeginAttempt;
  masterKey: MasterKey;
  siteUrl: string;
  /** Issuer shown by authenticator apps. */
  serviceName: string;
  currency: string;
  baseUrl: string;
  /** Card payments and their limits. */
  payments: { kind: "stripe" | "none"; amountMin: string; amountMax: string };
  signUp: SignUpPolicy;
  /** Daily limit of welcome credits, and the support contact. */
  welcomesDailyMax: number;
  contentDays: number;
  supportContact: string | null;
  providers: readonly OidcSettings[];
  /** Secret of the outbox; `null` if it is not served. */
  outboxSecret: string | null;
  openAccount: OpenAccount;
  showMessage: ShowMessage;
};

export function createSignIn(options: SignInOptions): SignIn {
  const { database, clock, ids, randomBytes, logger, mailer, beginAttempt, siteUrl, serviceName, outboxSecret } =
    options;
  const { currency, baseUrl, payments, signUp, supportContact, contentDays, masterKey, showMessage } = options;
  const cookies = createSiteCookies(siteUrl);
  const background = createBackgroundWork({ logger });
  const passwords = createPasswords(beginAttempt);
  const sessions = createSessions({ clock, ids, randomBytes });
  const notifyChange = createChangeNotifier(logger, mailer, siteUrl);
  const keys = { totp: masterKey.derive("totp-secrets"), backupCodes: masterKey.derive("backup-codes") };
  const mayWelcome = createWelcome({ beginAttempt, logger, dailyMax: options.welcomesDailyMax });
  const openAccount = welcomeOnce(options);
  const providers = options.providers.map((settings) => createOidcProvider(settings, clock));
  return {
    addRoutes(consoleApi) {
      addSiteInfoRoutes(consoleApi, database, {
        sign_up: signUp,
        providers: providers.map(({ id, name }) => ({ id, name })),
        mail: mailer.kind,
        has_outbox: outboxSecret !== null,
        currency,
        base_url: baseUrl,
        payments: payments.kind,
        payment_amount_min: payments.amountMin,
        payment_amount_max: payments.amountMax,
        content_log_days: contentDays,
        support_contact: supportContact,
      });
      const outbox = { cookies, mailer, background, beginAttempt };
      if (outboxSecret !== null) addOutboxRoutes(consoleApi, { ...outbox, outboxSecret });
      const entry = { cookies, database, clock, randomBytes, beginAttempt, siteUrl };
      const opening = { logger, sessions, signUp, mayWelcome, openAccount };
      addSignUpRoutes(consoleApi, { ...entry, ...opening, passwords, background, mailer });
      addSignInRoutes(consoleApi, { ...entry, logger, passwords, sessions, keys });
      addSessionRoutes(consoleApi, { cookies, database, clock, logger });
      addPasswordRoutes(consoleApi, { ...entry, passwords, sessions, background, mailer, notifyChange });
      addTotpRoutes(consoleApi, { ...entry, serviceName, sessions, notifyChange, keys });
      addPasskeyRoutes(consoleApi, { ...entry, serviceName, ids, providers, notifyChange });
      addProviderRoutes(consoleApi, { ...entry, ...opening, providers, notifyChange, showMessage });
      addServiceRoutes(consoleApi, { ...entry, providers, notifyChange });
    },
    async readSession(headers) {
      const token = cookies.read(headers, "session");
      return token === null ? null : await readSession(database, token, clock.now());
    },
    close: () => background.settled(),
  };
}

/** Deletes expired sessions and tokens. */
export async function deleteOldSignIns(database: Database, now: Date): Promise<void> {
  await deleteDeadSessions(database, limitSessions(now));
  await deleteExpiredTokens(database, now);
}
