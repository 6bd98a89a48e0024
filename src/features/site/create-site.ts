import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { isLoopbackUrl } from "../../platform/config/load-settings.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { AccountChanges } from "../../platform/database/account-changes.ts";
import type { Database } from "../../platform/database/database.ts";
import { addConsoleApi } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import { createMailer, type Mailer } from "../../platform/mail/create-mailer.ts";
import type { MailOutbox } from "../../platform/mail/mail-outbox.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import { addAccountRoutes } from "./account/account-routes.ts";
import { addChangeRoutes } from "./account/change-routes.ts";
import { addMailFooter } from "./brand/add-mail-footer.ts";
import { applyBrand } from "./brand/apply-brand.ts";
import type { Brand } from "./brand/brand.ts";
import { createConnect } from "./connect/create-connect.ts";
import { createSiteShell } from "./serve-site.ts";
import { createShowcase } from "./showcase/create-showcase.ts";
import { addShowcaseRoutes } from "./showcase/showcase-routes.ts";
import { createSignIn } from "./sign-in/create-sign-in.ts";
import type { OidcSettings } from "./sign-in/provider/oidc-provider.ts";
import { createThrottle } from "./sign-in/throttle.ts";
import type { OpenAccount } from "./sign-in/user/open-account.ts";
import type { SignUpPolicy } from "./sign-in/user/sign-up.ts";
import { readSiteFiles } from "./site-files.ts";

export type Site = {
  /** URL of the outbox with its secret; `null` if it is not served. */
  outboxUrl: string | null;
  /**
   * Adds the site's pages, the console API and the endpoints of the connect flow. `addApi` adds further console routes
   * for signed-in users.
   */
  addRoutes(http: HttpServer, addApi: (consoleApi: HttpServer) => void): Promise<void>;
  /** Applies a changed brand to pages and mails. */
  rebrand(brand: Brand): void;
  /** Finishes background work and the mail being sent. */
  close(): Promise<void>;
};

/** The operator's settings for the site. */
export type SiteOptions = {
  siteUrl: string;
  baseUrl: string;
  currency: string;
  signUp: SignUpPolicy;
  welcomesDailyMax: number;
  /** Retention of logged request contents in days; 0 disables it. */
  contentDays: number;
  supportContact: string | null;
  mail: { smtpUrl: string | undefined; from: string };
  payments: { kind: "none" | "stripe"; amountMin: string; amountMax: string };
  providers: OidcSettings[];
  brand: Brand;
};

type SiteDependencies = {
  database: Database;
  changes: Pick<AccountChanges, "watch">;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  logger: Logger;
  masterKey: MasterKey;
  catalog: LiveCatalog;
  openAccount: OpenAccount;
  /** Throws if the database does not respond. */
  checkDatabase(): Promise<void>;
  /** Whether a task due before then is still waiting. */
  hasTasksDueBefore(moment: Date): Promise<boolean>;
  /** Prints an unsent mail on the server's terminal, if there is one. */
  showMail(text: string): void;
  /** Storage for unsent mails; defaults to this process's memory. */
  outbox?: MailOutbox | undefined;
};

export function createSite(given: SiteOptions & SiteDependencies): Site {
  const { database, clock, ids, randomBytes, counters, logger, masterKey, catalog, openAccount } = given;
  const { siteUrl, baseUrl, currency, signUp, payments, providers, checkDatabase, hasTasksDueBefore } = given;
  const { welcomesDailyMax, supportContact, contentDays } = given;
  let { brand } = given;
  const unsigned = createMailer({ ...given.mail, clock, logger, show: given.showMail, outbox: given.outbox });
  const mailer: Mailer = { ...unsigned, send: (mail) => unsigned.send(addMailFooter(mail, brand)) };
  const hasOutbox = mailer.kind === "outbox" && isLoopbackUrl(siteUrl);
  const outboxSecret = hasOutbox ? presentOutboxSecret(masterKey) : null;
  const built = readSiteFiles();
  const addresses = { siteUrl, baseUrl };
  let files = built && applyBrand(built, brand, addresses);
  const shell = createSiteShell({ siteUrl, signUp, getFiles: () => files });
  const heartbeats = createHeartbeats(heartbeatMs);
  const beginAttempt = createThrottle(counters, randomBytes);
  const signIn = createSignIn({
    ...{ database, clock, ids, randomBytes, logger, mailer, beginAttempt, masterKey, openAccount },
    ...{ siteUrl, baseUrl, currency, signUp, welcomesDailyMax, supportContact, payments, providers, outboxSecret },
    contentDays,
    serviceName: brand.name,
    showMessage: (reply, { status, title, message }) =>
      shell.sendShell(reply, { status, data: { kind: "message", title, message } }),
  });
  const connect = createConnect({
    ...{ database, clock, ids, randomBytes, counters, logger, beginAttempt, siteUrl },
    ...{ sendShell: shell.sendShell, sendMail: mailer.send },
  });
  const offer = { catalog, clock, currency, baseUrl, signUp };
  const showcase = createShowcase({ ...offer, checkDatabase, hasTasksDueBefore });
  if (mailer.kind === "outbox" && !isLoopbackUrl(siteUrl)) {
    logger.warn("smtp_url not set: sign-up and password reset mails are not sent");
  }
  return {
    // Browsers do not send the fragment, so no log or proxy sees the secret.
    outboxUrl: outboxSecret === null ? null : `${siteUrl}/outbox#${outboxSecret}`,
    async addRoutes(http, addApi) {
      shell.addRoutes(http);
      await connect.addPages(http);
      await addConsoleApi(http, { siteUrl, counters, readSession: signIn.readSession }, (consoleApi) => {
        signIn.addRoutes(consoleApi);
        connect.addRoutes(consoleApi);
        addAccountRoutes(consoleApi, {
          ...{ database, clock, ids, randomBytes, logger, catalog, beginAttempt, currency, contentDays },
        });
        addShowcaseRoutes(consoleApi, showcase);
        addChangeRoutes(consoleApi, { changes: given.changes, clock, heartbeats });
        addApi(consoleApi);
      });
    },
    rebrand(next) {
      brand = next;
      files = built && applyBrand(built, brand, addresses);
    },
    async close() {
      heartbeats.close();
      await signIn.close();
      await mailer.close();
    },
  };
}

const outboxSecretCharacters = 32;
/** Keep-alive interval; pages drop a stream that is silent for three times as long. */
const heartbeatMs = 15_000;

function presentOutboxSecret(masterKey: MasterKey): string {
  return masterKey.derive("outbox").toString("base64url").slice(0, outboxSecretCharacters);
}
