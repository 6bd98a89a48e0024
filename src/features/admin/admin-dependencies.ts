import type { Clock } from "../../lib/clock.ts";
import type { SiteSession } from "../../lib/console-session.ts";
import type { IdSource, UserId } from "../../lib/ids.ts";
import type { Settings } from "../../platform/config/load-settings.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database, DatabaseAddress } from "../../platform/database/database.ts";
import type { RequestHeaders } from "../../platform/http/console-edge.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { Account, AccountChange } from "../accounts/index.ts";
import type { Payments } from "../payments/index.ts";
import type { Tasks } from "../tasks/index.ts";
import type { Acting } from "./edge/admin-caller.ts";
import type { AdminEndpoint } from "./edge/admin-endpoint-table.ts";

/** The gateway in which a command of a remote caller runs. */
type CommandHost = { database: Database; settings: Settings; address: DatabaseAddress };

/** The command line, which is above the operator side and handed to it. */
export type AdminCommands = {
  /** `null` if there is none that runs remotely. */
  find(words: readonly string[]): Promise<(AdminEndpoint & { name: string }) | null>;
  run(
    words: readonly string[],
    options: { acting: Acting; host: CommandHost },
  ): Promise<{ text: string; notes: string; exitCode: number }>;
};

/** What the settings say about the steps of a first visit. */
type SetupSettings = {
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
  /** How long the request log is kept. */
  requestDays: number;
  /** `null` if the gateway was not started by the command line. */
  commands: { runner: AdminCommands; host: CommandHost } | null;
  /** The session of these headers, or `null`. */
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
  /** The header that makes the browser see an account in the view, or, with `null`, its own again. */
  presentViewCookie(viewId: string | null): string;
  masterKey: MasterKey;
  /** Where AI SDK packages are installed. */
  packagesFolder: string;
  /** Where the sandbox stores its outputs. */
  studioFolder: string;
  setup: SetupSettings;
  /** Mails the user what changed about the sign-in. */
  notifyChange(owner: { userId: UserId; email: string }, change: string): void;
  /** Changes an account and its plan's quotas in the caller's transaction. */
  changeAccount(tx: Database, accountId: string, change: AccountChange): Promise<Account>;
  refundPayment: Payments["refund"];
  cancelTask: Tasks["cancel"];
  /** The catalog's upstreams, for the limits of their queues. */
  listTaskProviders(): readonly Pick<ProviderDefinition, "id" | "tasks_max" | "tasks_per_minute" | "task_limits_per">[];
  /** Deletes expired files now. */
  purgeFiles(): Promise<{ files: number; removedBytes: number }>;
  /** 0 keeps tasks forever. */
  retention: { fileDays: number; taskDays: number; requestDays: number };
};
