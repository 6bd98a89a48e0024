import type { SiteSession } from "../../../lib/console-session.ts";
import type { MasterKey } from "../../../platform/config/master-key.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { Mailer } from "../../../platform/mail/create-mailer.ts";
import type { SiteDependencies, SiteOptions } from "../site-dependencies.ts";
import { createBackgroundWork } from "./background-work.ts";
import { addOutboxRoutes } from "./outbox-routes.ts";
import { addPasskeyRoutes } from "./passkey/passkey-routes.ts";
import { createPasswords } from "./password/create-passwords.ts";
import { addPasswordRoutes } from "./password/password-routes.ts";
import { createOidcProvider } from "./provider/oidc-provider.ts";
import { addProviderRoutes } from "./provider/provider-routes.ts";
import { addServiceRoutes } from "./provider/service-routes.ts";
import { addTotpRoutes } from "./second-factor/totp-routes.ts";
import { addSessionRoutes } from "./session/session-routes.ts";
import { deleteDeadSessions } from "./session/session-store.ts";
import { createSessions, limitSessions, readSession } from "./session/sessions.ts";
import { createSiteCookies, type RequestHeaders, type SiteCookies } from "./session/site-cookies.ts";
import type { SignInDependencies } from "./sign-in-dependencies.ts";
import { composeChangeMail } from "./sign-in-mails.ts";
import { addSignInRoutes } from "./sign-in-routes.ts";
import { addSiteInfoRoutes } from "./site-info-routes.ts";
import { addSignUpRoutes } from "./user/sign-up-routes.ts";
import type { OpenAccount } from "./user/user.ts";
import { deleteExpiredTokens } from "./user/user-token-store.ts";
import { createWelcome, welcomeOnce } from "./user/welcome.ts";

type SignIn = {
  addRoutes(consoleApi: HttpServer): void;
  /** The session of these headers, or `null`. */
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
  cookies: SiteCookies;
  notifyChange: SignInDependencies["notifyChange"];
  /** Finishes background work. */
  close(): Promise<void>;
};

type SignInOptions = SiteOptions & {
  masterKey: MasterKey;
  openAccount: OpenAccount;
  admission: SignInDependencies["admission"];
  /** Secret of the outbox; `null` if it is not served. */
  outboxSecret: string | null;
};

export function createSignIn(site: SiteDependencies & { mailer: Mailer }, options: SignInOptions): SignIn {
  const { database, clock, logger, mailer, beginAttempt, siteUrl } = site;
  const { masterKey, signUp, payments, outboxSecret, welcomesDailyMax: dailyMax } = options;
  const dependencies: SignInDependencies = {
    ...site,
    signUp,
    cookies: createSiteCookies(siteUrl),
    background: createBackgroundWork({ logger }),
    passwords: createPasswords(beginAttempt),
    sessions: createSessions(site),
    keys: { totp: masterKey.derive("totp-secrets"), backupCodes: masterKey.derive("backup-codes") },
    providers: options.providers.map((settings) => createOidcProvider(settings, clock)),
    serviceName: options.brand.name,
    admission: options.admission,
    openAccount: welcomeOnce(site, options.openAccount),
    mayWelcome: createWelcome({ beginAttempt, logger, dailyMax }),
    notifyChange({ userId, email }, change) {
      logger.info({ user_id: userId, change }, "sign-in method changed");
      mailer.send(composeChangeMail({ to: email, change, siteUrl }));
    },
  };
  return {
    addRoutes(consoleApi) {
      addSiteInfoRoutes(consoleApi, site, {
        sign_up: signUp,
        providers: dependencies.providers.map(({ id, name }) => ({ id, name })),
        mail: mailer.kind,
        has_outbox: outboxSecret !== null,
        currency: options.currency,
        base_url: options.baseUrl,
        payments: payments.kind,
        payment_amount_min: payments.amountMin,
        payment_amount_max: payments.amountMax,
        payment_amounts: payments.amounts,
        has_auto_top_up: payments.hasAutoTopUp,
        content_log_days: options.contentDays,
        support_contact: options.supportContact,
      });
      if (outboxSecret !== null) addOutboxRoutes(consoleApi, dependencies, outboxSecret);
      addSignUpRoutes(consoleApi, dependencies);
      addSignInRoutes(consoleApi, dependencies);
      addSessionRoutes(consoleApi, dependencies);
      addPasswordRoutes(consoleApi, dependencies);
      addTotpRoutes(consoleApi, dependencies);
      addPasskeyRoutes(consoleApi, dependencies);
      addProviderRoutes(consoleApi, dependencies);
      addServiceRoutes(consoleApi, dependencies);
    },
    async readSession(headers) {
      const token = dependencies.cookies.read(headers, "session");
      return token === null ? null : await readSession(database, token, clock.now());
    },
    cookies: dependencies.cookies,
    notifyChange: dependencies.notifyChange,
    close: () => dependencies.background.settled(),
  };
}

/** Deletes expired sessions and tokens. */
export async function deleteOldSignIns(database: Database, now: Date): Promise<void> {
  await deleteDeadSessions(database, limitSessions(now));
  await deleteExpiredTokens(database, now);
}
