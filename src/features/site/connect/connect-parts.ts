import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import type { Counters } from "../../../platform/counters/counters.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Mail } from "../../../platform/mail/create-mailer.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import type { SiteShell } from "../serve-site.ts";

/** What connecting programs works with. */
export type ConnectParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  logger: Logger;
  siteUrl: string;
  sendShell: SiteShell["sendShell"];
  /** Takes the mail on and returns at once. */
  sendMail(mail: Mail): void;
};
