import type { Clock } from "../../lib/clock.ts";
import type { SiteSession } from "../../lib/console-session.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import type { RequestHeaders } from "../../platform/http/console-edge.ts";
import type { Account, AccountChange } from "../accounts/index.ts";

/** Shared by all parts of the operator side. */
export type AdminDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  siteUrl: string;
  currency: string;
  /** The session of these headers, or `null`. */
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
  /** Changes an account and its plan's quotas in the caller's transaction. */
  changeAccount(tx: Database, accountId: string, change: AccountChange): Promise<Account>;
};
