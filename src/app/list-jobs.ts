import { runVerification } from "../features/admin/index.ts";
import { sweepUpstreamEvents } from "../features/catalog/index.ts";
import { sumMoneySlots } from "../features/costs/index.ts";
import { forgetExpiredKeys } from "../features/idempotency/index.ts";
import {
  type CheckOutcome,
  checkChangedAccounts,
  checkEverything,
  rollUpUsage,
  sweepLedger,
} from "../features/ledger/index.ts";
import { packRequestLog, rollRequestLog } from "../features/requests/index.ts";
import { deleteOldRequests, deleteOldSignIns } from "../features/site/index.ts";
import { forgetOldTasks, reconcileTasks, type TaskRetention } from "../features/tasks/index.ts";
import { forgetOldEvents } from "../features/webhooks/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Database } from "../platform/database/database.ts";
import { makeMonths } from "../platform/database/month-store.ts";
import type { ScheduledJob } from "../platform/jobs/scheduled-jobs.ts";
import type { Logger } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import { renewPlans } from "./change-account.ts";

type JobOptions = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  currency: string;
  logger: Logger;
  metrics: Pick<Metrics, "violations">;
  requestLogDays: number;
  retention: TaskRetention;
  contentLogDays: number;
  removeExpiredFiles(): Promise<void>;
  sweepCheckouts(signal: AbortSignal): Promise<void>;
  topUpAccounts(signal: AbortSignal): Promise<void>;
  raiseAlerts(signal: AbortSignal): Promise<void>;
  /** Absent without a request log. */
  countTraffic?(): Promise<void>;
  checkAlarms(signal: AbortSignal): Promise<void>;
  /** Absent without a cap. */
  capSpending?(signal: AbortSignal): Promise<void>;
  issueStatements(signal: AbortSignal): Promise<void>;
  sendNotices(): Promise<void>;
  sweepResponses(): Promise<void>;
  applyScheduledCatalogs(): Promise<void>;
  pollVendorBalances(signal: AbortSignal): Promise<void>;
  sweepViews(): Promise<void>;
  eraseLateRows(): Promise<void>;
};

const everyMinute = {};
const everyHour = { minute: 23 };
const everyNight = { hour: 3, minute: 17 };
const violationsShownMax = 20;

/** The scheduled jobs, each run by one of all gateways. */
export function listJobs(options: JobOptions): ScheduledJob[] {
  const { database, clock, ids, currency, logger, metrics } = options;

  function report({ violations, frozen }: CheckOutcome): void {
    if (violations.length === 0) return;
    metrics.violations.at().add(violations.length);
    const found = { count: violations.length, violations: violations.slice(0, violationsShownMax), frozen };
    logger.error(found, "ledger violations found, accounts frozen for spending");
  }

  return [
    {
      name: "verify-ledger",
      schedule: everyMinute,
      run: (signal) => runVerification({ database, clock, signal, onFound: report }),
    },
    {
      name: "sweep-ledger",
      schedule: everyMinute,
      run: async () => {
        await sweepLedger({
          ...{ database, clock },
          onTrouble: ({ kind, accountId }, error) =>
            logger.error({ kind, account_id: accountId, error }, "sweep failed"),
        });
      },
    },
    {
      name: "roll-up-usage",
      schedule: everyMinute,
      run: () => rollUpUsage({ database, clock }),
    },
    {
      name: "sum-money-slots",
      schedule: everyMinute,
      run: () => sumMoneySlots({ database, clock }),
    },
    {
      name: "renew-plans",
      schedule: everyMinute,
      run: () =>
        renewPlans({
          ...{ database, clock, ids, currency },
          onTrouble: (accountId, error) => logger.error({ account_id: accountId, error }, "plan renewal failed"),
        }),
    },
    {
      name: "forget-idempotency-keys",
      schedule: everyMinute,
      run: () => forgetExpiredKeys(database, clock.now()),
    },
    ...listFeatureJobs(options),
    ...listOptional(options),
    ...listRetention(options),
    {
      name: "reconcile-tasks",
      schedule: everyNight,
      run: async () => void (await reconcileTasks({ database, clock, logger })),
    },
    {
      name: "check-changed-accounts",
      schedule: everyMinute,
      run: async () => report(await checkChangedAccounts(database, clock.now())),
    },
    {
      name: "check-all-accounts",
      schedule: everyNight,
      run: async (signal) => {
        await checkEverything(database, { now: clock.now(), signal, onFound: report, place: "kept" });
      },
    },
  ];
}

/** Jobs that their features bring. */
function listFeatureJobs(options: JobOptions): ScheduledJob[] {
  return [
    { name: "remove-expired-files", schedule: everyMinute, run: () => options.removeExpiredFiles() },
    { name: "sweep-checkouts", schedule: everyMinute, run: (signal) => options.sweepCheckouts(signal) },
    { name: "top-up-accounts", schedule: everyMinute, run: (signal) => options.topUpAccounts(signal) },
    { name: "raise-alerts", schedule: everyMinute, run: (signal) => options.raiseAlerts(signal) },
    { name: "check-alarms", schedule: everyMinute, run: (signal) => options.checkAlarms(signal) },
    { name: "issue-statements", schedule: everyHour, run: (signal) => options.issueStatements(signal) },
    { name: "send-notices", schedule: everyMinute, run: () => options.sendNotices() },
    { name: "sweep-responses", schedule: everyMinute, run: () => options.sweepResponses() },
    { name: "poll-vendor-balances", schedule: everyMinute, run: (signal) => options.pollVendorBalances(signal) },
    { name: "apply-scheduled-catalogs", schedule: everyMinute, run: () => options.applyScheduledCatalogs() },
    { name: "end-account-views", schedule: everyMinute, run: () => options.sweepViews() },
    { name: "erase-late-rows", schedule: everyHour, run: () => options.eraseLateRows() },
  ];
}

/** Jobs that only some settings need. */
function listOptional({ countTraffic, capSpending }: JobOptions): ScheduledJob[] {
  return [
    ...(countTraffic === undefined
      ? []
      : [{ name: "count-traffic", schedule: everyMinute, run: () => countTraffic() }]),
    ...(capSpending === undefined
      ? []
      : [{ name: "cap-spending", schedule: everyMinute, run: (signal: AbortSignal) => capSpending(signal) }]),
  ];
}

/** Partition creation and retention jobs. */
function listRetention(options: JobOptions): ScheduledJob[] {
  const { database, clock } = options;
  return [
    {
      name: "roll-request-log",
      schedule: everyHour,
      run: () =>
        rollRequestLog({
          ...{ database, clock },
          keptDays: options.requestLogDays,
          contentDays: options.contentLogDays,
        }),
    },
    {
      name: "pack-request-log",
      schedule: everyHour,
      run: (signal) => packRequestLog({ database, clock, ids: options.ids, signal }),
    },
    {
      name: "make-months",
      schedule: everyHour,
      run: () => makeMonths(database, clock.now()),
    },
    {
      name: "sweep-upstream-events",
      schedule: everyMinute,
      run: () => sweepUpstreamEvents({ database, clock }),
    },
    {
      name: "forget-old-events",
      schedule: everyHour,
      run: async () => void (await forgetOldEvents(database, clock.now())),
    },
    {
      name: "forget-old-tasks",
      schedule: everyHour,
      run: (signal) => forgetOldTasks({ ...options.retention, database, clock, signal }),
    },
    {
      name: "forget-old-sign-ins",
      schedule: everyHour,
      run: () => deleteOldSignIns(database, clock.now()),
    },
    {
      name: "forget-connect-requests",
      schedule: everyHour,
      run: () => deleteOldRequests(database, clock.now()),
    },
  ];
}
