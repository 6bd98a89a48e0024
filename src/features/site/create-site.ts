import type { SiteSession } from "../../lib/console-session.ts";
import type { UserId } from "../../lib/ids.ts";
import { isLoopbackUrl } from "../../platform/config/load-settings.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import type { AccountChanges } from "../../platform/database/account-changes.ts";
import { addConsoleApi } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import { createMailer, type Mailer } from "../../platform/mail/create-mailer.ts";
import type { MailOutbox } from "../../platform/mail/mail-outbox.ts";
import type { SignUpAdmission } from "../abuse/index.ts";
import type { StatusPage } from "../status/index.ts";
import { addActivityRoutes } from "./account/activity-routes.ts";
import { addChangeRoutes } from "./account/change-routes.ts";
import { addCodeRoutes } from "./account/code-routes.ts";
import { addFirstCallRoutes } from "./account/first-call-routes.ts";
import { addInboxRoutes } from "./account/inbox-routes.ts";
import { addKeyRoutes } from "./account/key-routes.ts";
import { addProfileRoutes } from "./account/profile-routes.ts";
import { addMailFooter, applyBrand } from "./brand/apply-brand.ts";
import type { Brand } from "./brand/brand.ts";
import { addEntryRoutes, addProgramRoutes } from "./connect/connect-routes.ts";
import { addConsentRoutes } from "./connect/consent-routes.ts";
import { createSiteShell } from "./serve-site.ts";
import { createShowcase, type ShowcaseOptions } from "./showcase/create-showcase.ts";
import { addShowcaseRoutes } from "./showcase/showcase-routes.ts";
import { createSignIn } from "./sign-in/create-sign-in.ts";
import { createNarrowing, type FindView, presentViewCookie } from "./sign-in/session/narrow-by-view.ts";
import type { RequestHeaders } from "./sign-in/session/site-cookies.ts";
import { composeMail, type MailContent } from "./sign-in/sign-in-mails.ts";
import { createThrottle } from "./sign-in/throttle.ts";
import type { OpenAccount } from "./sign-in/user/user.ts";
import type { SiteDependencies, SiteOptions } from "./site-dependencies.ts";
import { readBuiltSite, statusProgramPath } from "./site-files.ts";
import { createStatusMarkup } from "./status-markup.ts";

export type Site = {
  /** URL of the outbox with its secret; `null` if it is not served. */
  outboxUrl: string | null;
  /**
   * Adds the site's pages, the console API and the endpoints of the connect flow. `addApi` adds further console routes
   * for signed-in users.
   */
  addRoutes(http: HttpServer, addApi: (consoleApi: HttpServer) => void): Promise<void>;
  /** The session of these headers, or `null`: an operator's own, also while they see an account. */
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
  /** The header that makes the browser see an account in the view, or, with `null`, its own again. */
  presentViewCookie(viewId: string | null): string;
  /** Logs a changed sign-in method and mails its owner. */
  notifyChange(owner: { userId: UserId; email: string }, change: string): void;
  /** Mails text with a link, and the brand's footer. */
  sendMail(content: MailContent): void;
  getBrandName(): string;
  /** Applies a changed brand to pages and mails. */
  rebrand(brand: Brand): void;
  /** Finishes background work and the mail being sent. */
  close(): Promise<void>;
};

type SiteParts = ShowcaseOptions &
  Omit<SiteDependencies, "mailer" | "beginAttempt" | "sendShell"> & {
    changes: Pick<AccountChanges, "watch">;
    masterKey: MasterKey;
    openAccount: OpenAccount;
    findView: FindView;
    admission: SignUpAdmission;
    /** `null` if the operator has switched the page off. */
    statusPage: Pick<StatusPage, "read"> | null;
    /** Prints an unsent mail on the server's terminal, if there is one. */
    showMail(text: string): void;
    /** Storage for unsent mails; defaults to this process's memory. */
    outbox?: MailOutbox | undefined;
  };

export function createSite(given: SiteOptions & SiteParts): Site {
  const { database, clock, ids, randomBytes, counters, logger, masterKey, catalog } = given;
  const { siteUrl, baseUrl, currency, contentDays, signUp } = given;
  let { brand } = given;
  const unsigned = createMailer({ ...given.mail, clock, logger, show: given.showMail, outbox: given.outbox });
  const mailer: Mailer = { ...unsigned, send: (mail) => unsigned.send(addMailFooter(mail, brand)) };
  const hasOutbox = mailer.kind === "outbox" && isLoopbackUrl(siteUrl);
  const outboxSecret = hasOutbox ? presentOutboxSecret(masterKey) : null;
  const built = readBuiltSite();
  const addresses = { siteUrl, baseUrl };
  let files = built && applyBrand(built, brand, addresses);
  const { statusPage } = given;
  const readStatus = statusPage && createStatusMarkup({ statusPage, clock, logger, programPath: statusProgramPath });
  const shell = createSiteShell({ siteUrl, signUp, readStatus, getFiles: () => files });
  const heartbeats = createHeartbeats(heartbeatMs);
  const site = {
    ...{ database, clock, ids, randomBytes, counters, logger, mailer, siteUrl },
    findOperatorRole: given.findOperatorRole,
    beginAttempt: createThrottle(counters, randomBytes),
    sendShell: shell.sendShell,
  };
  const signIn = createSignIn(site, { ...given, outboxSecret });
  const readNarrowed = createNarrowing(signIn, given.findView);
  const showcase = createShowcase(given);
  if (mailer.kind === "outbox" && !isLoopbackUrl(siteUrl)) {
    logger.warn("smtp_url not set: sign-up and password reset mails are not sent");
  }
  return {
    // Browsers do not send the fragment, so no log or proxy sees the secret.
    outboxUrl: outboxSecret === null ? null : `${siteUrl}/outbox#${outboxSecret}`,
    async addRoutes(http, addApi) {
      shell.addRoutes(http);
      addEntryRoutes(http, site);
      await addProgramRoutes(http, site);
      await addConsoleApi(http, { siteUrl, counters, readSession: readNarrowed }, (consoleApi) => {
        signIn.addRoutes(consoleApi);
        addConsentRoutes(consoleApi, site);
        addKeyRoutes(consoleApi, { ...site, catalog, contentDays });
        addProfileRoutes(consoleApi, site);
        addActivityRoutes(consoleApi, site);
        addCodeRoutes(consoleApi, { ...site, currency });
        addInboxRoutes(consoleApi, site);
        addFirstCallRoutes(consoleApi, site);
        addShowcaseRoutes(consoleApi, showcase);
        addChangeRoutes(consoleApi, site, { changes: given.changes, heartbeats });
        addApi(consoleApi);
      });
    },
    readSession: signIn.readSession,
    presentViewCookie: (viewId) => presentViewCookie(signIn.cookies, viewId),
    notifyChange: signIn.notifyChange,
    getBrandName: () => brand.name,
    sendMail: (content) => mailer.send(composeMail(content)),
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
