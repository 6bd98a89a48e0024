import type { Clock } from "../../lib/clock.ts";
import type { SiteSession } from "../../lib/console-session.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import type { RequestHeaders } from "../../platform/http/console-edge.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Account, AccountChange } from "../accounts/index.ts";

/** What the settings say about the steps of a first visit. */
export type SetupSettings = {
  hasPayments: boolean;
  hasMail: boolean;
  hasLogArchive: boolean;
  isDatabaseExternal: boolean;
};

/** Shared by all parts of the operator side. */
export type AdminDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  logger: Pick<Logger, "warn" | "error">;
  siteUrl: string;
  currency: string;
  /** The session of these headers, or `null`. */
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
  masterKey: MasterKey;
  /** Where AI SDK packages are installed. */
  packagesFolder: string;
  /** Where the sandbox stores its outputs. */
  studioFolder: string;
  setup: SetupSettings;
  /** Changes an account and its plan's quotas in the caller's transaction. */
  changeAccount(tx: Database, accountId: string, change: AccountChange): Promise<Account>;
};
