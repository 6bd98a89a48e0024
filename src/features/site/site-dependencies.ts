import type { Clock } from "../../lib/clock.ts";
import type { IdSource, UserId } from "../../lib/ids.ts";
import type { OperatorRole } from "../../lib/operator-role.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Mailer } from "../../platform/mail/create-mailer.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Brand } from "./brand/brand.ts";
import type { SiteShell } from "./serve-site.ts";
import type { OidcSettings } from "./sign-in/provider/oidc-provider.ts";
import type { BeginAttempt } from "./sign-in/throttle.ts";
import type { SignUpPolicy } from "./sign-in/user/user.ts";

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
  payments: {
    kind: "none" | "stripe";
    amountMin: string;
    amountMax: string;
    amounts: string[];
    hasAutoTopUp: boolean;
  };
  providers: OidcSettings[];
  brand: Brand;
};

/** Shared by all parts of the site. */
export type SiteDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  logger: Logger;
  mailer: Pick<Mailer, "send">;
  beginAttempt: BeginAttempt;
  sendShell: SiteShell["sendShell"];
  siteUrl: string;
  /** `null` for customers. */
  findOperatorRole(userId: UserId): Promise<OperatorRole | null>;
};
