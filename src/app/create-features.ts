import { join } from "node:path";
import { capSpending, createAdmission, openBlockList } from "../features/abuse/index.ts";
import { createCallerDirectory, createKeyUses, getKeyCaller } from "../features/accounts/index.ts";
import {
  type Admin,
  type AdminCommands,
  createAdmin,
  findOperatorRole,
  listOperatorEmails,
  narrowToView,
} from "../features/admin/index.ts";
import { checkAlarms } from "../features/alarms/index.ts";
import { raiseAlerts } from "../features/alerts/index.ts";
import { type Calls, createCalls } from "../features/calls/index.ts";
import { createChat } from "../features/chat/index.ts";
import { createCompletions } from "../features/completions/index.ts";
import { createDramas, type DramaFailpoint, presentDramaRequest } from "../features/dramas/index.ts";
import { createEmbeddings } from "../features/embeddings/index.ts";
import type { Files } from "../features/files/index.ts";
import { issueStatements } from "../features/invoices/index.ts";
import { releaseHold } from "../features/ledger/index.ts";
import { createMessages } from "../features/messages/index.ts";
import { sendNotices } from "../features/notices/index.ts";
import { createPayments, type Payments, type StripePlace } from "../features/payments/index.ts";
import { createQuotes, type Quotes } from "../features/quotes/index.ts";
import { createContentSeal, createRequestLog } from "../features/requests/index.ts";
import { createResponses } from "../features/responses/index.ts";
import { createSite, type Site } from "../features/site/index.ts";
import { createSpeech } from "../features/speech/index.ts";
import { countTraffic, createStatusPage, type StatusPage } from "../features/status/index.ts";
import { createTasks, hasTasksDueBefore, linkEvent, type TaskFailpoint, type Tasks } from "../features/tasks/index.ts";
import { createTranscriptions } from "../features/transcriptions/index.ts";
import { createWebhooks, type Webhooks } from "../features/webhooks/index.ts";
import { createByteAllowance } from "../lib/byte-allowance.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { pingDatabase } from "../platform/database/database.ts";
import { tapLimits } from "../platform/http/tap-content.ts";
import { openScheduledJobs } from "../platform/jobs/scheduled-jobs.ts";
import { createGuardedClient } from "../platform/net/guarded-client.ts";
import { changeAccount, openAccount } from "./change-account.ts";
import type { GatewayHttpDependencies } from "./create-gateway-http.ts";
import { listJobs } from "./list-jobs.ts";
import { openFiles } from "./open-files.ts";
import type { Foundation, FoundationOptions } from "./open-foundation.ts";
import { readAlarmSettings } from "./read-alarm-settings.ts";
import { readBrandSettings } from "./read-brand-settings.ts";
import { readContentDays } from "./read-content-days.ts";
import { readPaymentSettings } from "./read-payment-settings.ts";
import { readSiteSettings, readSpendCap, readWelcomeCredit } from "./read-site-settings.ts";
import { readTextLimits } from "./read-text-limits.ts";

/** All features of a gateway. */
export type Features = Pick<
  GatewayHttpDependencies,
  | "admin"
  | "chat"
  | "completions"
  | "messages"
  | "responses"
  | "dramas"
  | "embeddings"
  | "files"
  | "payments"
  | "quotes"
  | "site"
  | "speech"
  | "tasks"
  | "transcriptions"
  | "webhooks"
  | "statusPage"
  | "blocks"
  | "callers"
  | "keyUses"
  | "requestLog"
  | "contentSeal"
  | "contentAllowance"
> & {
  calls: Calls;
  outboxUrl: string | null;
  /** Applies reloaded brand settings and notifies open pages. Throws if they are invalid. */
  rebrand(settings: Settings): void;
  /** Starts the workers of tasks and deliveries. */
  startWorking(): void;
  /** Stops claiming work, so that other nodes take it; running work continues until closing. */
  stopWorking(): void;
};

export type FeatureOptions = FoundationOptions & {
  /** Tests kill the process at these points. */
  failpoint?: (name: TaskFailpoint | DramaFailpoint) => void;
  /** Prints an unsent mail to the terminal; its links are secrets and must not be logged. */
  showMail?: (text: string) => void;
  /** Commands for remote callers; the command line, which starts gateways, brings them. */
  commands?: AdminCommands;
  /** Stripe's API; tests use another URL. */
  stripe?: StripePlace;
};

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** Creates every feature. `stack` closes them in reverse order. */
export async function createFeatures(
  foundation: Foundation,
  options: FeatureOptions,
  stack: AsyncDisposableStack,
): Promise<Features> {
  const { settings, clock, ids, randomBytes, logger, failpoint = () => {} } = options;
  const { metrics, database, feed, catalog, counters, ledger, registry, health, masterKey, copy } = foundation;
  const random = (): number => Buffer.from(randomBytes(6)).readUIntBE(0, 6) / 2 ** 48;
  const keyValidityMs = settings.idempotency_hours * hourMs;
  const { currency, site_url: siteUrl, stream_heartbeat_ms: heartbeatMs } = settings;
  // Created first, so closed last: the end of other features is logged too.
  const notes = openNotes(foundation, options, stack);
  const quotes = createQuotes({ key: masterKey.derive("quotes"), clock });
  const calls = createCalls({
    ...{ database, quotes, clock, ids, ledger, counters, logger, metrics, health, random },
    ...{ currency, siteUrl, keyValidityMs, heartbeatMs, liveForMs: feed.liveForMs },
    // Each process gets an equal share of the setting.
    drainedCallsMax: Math.ceil(settings.drained_calls_max / (options.siblings?.processes ?? 1)),
  });
  stack.defer(() => calls.close());
  const chat = createChat({ calls, catalog, registry, clock, logger });
  const completions = createCompletions({ calls, chat });
  const messages = createMessages({ calls, chat, catalog, clock });
  const embeddings = createEmbeddings({ calls, catalog, registry, clock });
  const isLead = (): boolean => options.siblings?.isLead() ?? true;
  const opened = await openFiles({ settings, database, clock, ids, logger, counters, masterKey, copy, feed, isLead });
  const { files } = opened;
  stack.defer(opened.close);
  const responses = openResponses(foundation, options, { calls, chat, files, keyValidityMs });
  stack.defer(() => responses.close());
  const transcriptions = createTranscriptions({ calls, catalog, registry, clock, files });
  const webhooks = createGatewayWebhooks(foundation, options, { random, files });
  stack.defer(() => webhooks.close());
  const payments = openPayments(foundation, options);
  stack.defer(() => payments.close());
  const statusPage = settings.status_page === "on" ? createStatusPage({ database, clock, catalog }) : null;
  const site = createGatewaySite(foundation, options, statusPage);
  stack.defer(() => site.close());
  const tasks = openTasks(foundation, options, { files, quotes, random, stack });
  const admin = createOperatorSide(foundation, options, { site, payments, tasks, files });
  const { blocks, jobs: watching } = await openWatching(foundation, options, { site, stack });
  const payment = { sweepCheckouts: payments.sweep, topUpAccounts: payments.topUp };
  const issue = (signal: AbortSignal) => issueStatements({ database, clock, currency }, signal);
  const kept = { ...admin, removeExpiredFiles: opened.removeExpired, sweepResponses: responses.sweep };
  const jobs = await openJobs(foundation, options, { ...kept, ...payment, issueStatements: issue, ...watching });
  stack.defer(() => jobs.close());
  const speech = createSpeech({ calls, catalog, registry, clock, tasks });
  const folder = join(settings.data_dir, "films");
  const dramas = createDramas({ database, clock, ids, logger, catalog, files, chat, tasks, folder, failpoint });
  return {
    ...{ calls, chat, completions, messages, quotes, responses, embeddings },
    ...{ admin, dramas, files, payments, site, speech, tasks, transcriptions, webhooks, ...notes, blocks, statusPage },
    callers: createCallerDirectory({ database, feed }),
    outboxUrl: site.outboxUrl,
    rebrand: (next) => rebrandSite(site, foundation, next),
    startWorking() {
      webhooks.startDelivering();
      tasks.startWorking(dramas.orchestrate);
    },
    stopWorking() {
      tasks.stopWorking();
      webhooks.stopDelivering();
      jobs.stopStarting();
    },
  };
}

function openTasks(
  foundation: Foundation,
  { settings, clock, ids, logger, failpoint = () => {} }: FeatureOptions,
  parts: { files: Files; quotes: Quotes; random: () => number; stack: AsyncDisposableStack },
): Tasks {
  const { metrics, database, feed, changes, catalog, registry, health, masterKey, tracing } = foundation;
  const { files, quotes, random, stack } = parts;
  const { currency, base_url: baseUrl, site_url: siteUrl } = settings;
  const { shutdown_timeout_ms: closeTimeoutMs, stream_heartbeat_ms: heartbeatMs } = settings;
  const guarded = createGuardedClient({ allowsPrivate: false });
  stack.defer(() => guarded.close());
  const tasks = createTasks({
    ...{ database, clock, ids, logger, metrics, feed, changes, catalog, registry, health },
    ...{ files, guarded, random, failpoint },
    ...{ currency, siteUrl, baseUrl, heartbeatMs, closeTimeoutMs, tracing },
    presentComposite: presentDramaRequest,
    quotes,
    allowsPrivate: settings.sandbox === "on",
    keyValidityMs: settings.idempotency_hours * hourMs,
    hookKey: masterKey.derive("vendor-hooks"),
    keptDays: settings.task_days,
    stepsMax: settings.worker_steps_max,
    connectionsMax: settings.database_connections,
  });
  stack.defer(() => tasks.close());
  return tasks;
}

function openPayments({ database, counters }: Foundation, options: FeatureOptions) {
  const { settings, clock, ids, logger, stripe: place } = options;
  return createPayments({ ...{ database, counters, clock, ids, logger, place }, ...readPaymentSettings(settings) });
}

type OperatorParts = { site: Site; payments: Payments; tasks: Tasks; files: Files };

function createOperatorSide(
  { database, address, counters, catalog, masterKey }: Foundation,
  { settings, clock, ids, randomBytes, logger, commands }: FeatureOptions,
  { site: { readSession, presentViewCookie, notifyChange }, payments, tasks, files }: OperatorParts,
): Admin {
  const { site_url: siteUrl, currency } = settings;
  return createAdmin({
    ...{ masterKey, logger, packagesFolder: settings.packages_dir, studioFolder: join(settings.data_dir, "studio") },
    setup: {
      hasPayments: settings.stripe_secret_key !== undefined,
      hasMail: settings.smtp_url !== undefined,
      hasLogArchive: settings.wal_archive !== undefined,
      isDatabaseExternal: settings.database_url !== undefined,
    },
    ...{ database, clock, ids, randomBytes, counters, siteUrl, currency, readSession, notifyChange, presentViewCookie },
    requestDays: settings.request_log_days,
    commands: commands === undefined ? null : { runner: commands, host: { database, settings, address } },
    changeAccount: (tx, accountId, change) => changeAccount({ database: tx, clock, ids }, accountId, change),
    refundPayment: payments.refund,
    cancelTask: tasks.cancel,
    listTaskProviders: () => catalog.current().catalog?.providers ?? [],
    purgeFiles: files.removeExpired,
    retention: {
      ...{ fileDays: settings.file_days, taskDays: settings.task_days },
      requestDays: settings.request_log_days,
    },
  });
}

function openResponses(
  { database, feed, catalog }: Foundation,
  { settings, clock, ids, logger }: FeatureOptions,
  {
    keyValidityMs,
    ...parts
  }: { calls: Calls; chat: ReturnType<typeof createChat>; files: Files; keyValidityMs: number },
) {
  return createResponses({
    ...{ ...parts, catalog, database, clock, ids, logger, ...readTextLimits(settings) },
    heartbeatMs: settings.stream_heartbeat_ms,
    days: settings.response_days,
    claims: {
      ...{ validityMs: keyValidityMs, liveForMs: feed.liveForMs },
      releaseHold: async (tx, hold) => void (await releaseHold(tx, hold, clock.now())),
    },
    getKeyCaller: (keyId) => getKeyCaller(database, keyId, clock.now()),
  });
}

function openNotes(
  { database, metrics, changes, masterKey }: Foundation,
  { clock, ids, randomBytes, logger }: FeatureOptions,
  stack: AsyncDisposableStack,
): Pick<Features, "keyUses" | "requestLog" | "contentSeal" | "contentAllowance"> {
  const onTrouble = (error: unknown): void => logger.warn({ error }, "key usage update failed");
  const keyUses = createKeyUses({ database, onTrouble });
  stack.defer(() => keyUses.close());
  const contentSeal = createContentSeal({ masterKey, randomBytes });
  const requestLog = createRequestLog({
    ...{ database, clock, ids, logger, metrics, contentSeal },
    onWritten: (accountId) => changes.announce(accountId, "requests"),
  });
  stack.defer(() => requestLog.close());
  return { keyUses, requestLog, contentSeal, contentAllowance: createByteAllowance(tapLimits.heldBytesMax) };
}

type Upkeep = Pick<
  Parameters<typeof listJobs>[0],
  | "removeExpiredFiles"
  | "sweepCheckouts"
  | "topUpAccounts"
  | "raiseAlerts"
  | "issueStatements"
  | "sendNotices"
  | "sweepResponses"
  | "applyScheduledCatalogs"
  | "pollVendorBalances"
  | "sweepViews"
  | "eraseLateRows"
  | "countTraffic"
  | "checkAlarms"
  | "capSpending"
>;

/** What watches: block lists, and the jobs for alarms, mails, traffic and the spending of new accounts. */
async function openWatching(
  { database, feed, catalog }: Foundation,
  { settings, clock, ids, logger }: FeatureOptions,
  { site, stack }: { site: Pick<Site, "sendMail">; stack: AsyncDisposableStack },
) {
  const { mails, webhook, slack } = readAlarmSettings(settings);
  const { currency, site_url: siteUrl } = settings;
  const { sendMail } = site;
  const blocks = await openBlockList({
    ...{ database, clock, feed, supportContact: settings.support_contact ?? null },
    onTrouble: (error) => logger.warn({ error }, "block list not reloaded"),
  });
  stack.defer(() => blocks.close());
  // Operators choose these addresses, often in their own network.
  const client = createGuardedClient({ allowsPrivate: true });
  stack.defer(() => client.close());
  const listRecipients = async (): Promise<readonly string[]> =>
    mails.length > 0 ? mails : await listOperatorEmails(database);
  const channels = { mail: { listRecipients, send: sendMail }, webhook, slack, client, siteUrl };
  const surroundings = {
    ...{
      clock,
      currency,
      dataDir: settings.data_dir,
      expectsBackups: settings.database_url === undefined && settings.sandbox === "off",
    },
    connectionsMax: settings.database_connections,
  };
  const cap = readSpendCap(settings);
  const hasModel = (id: string): boolean => catalog.current().modelById.has(id);
  const jobs: Pick<Upkeep, "raiseAlerts" | "sendNotices" | "checkAlarms" | "countTraffic" | "capSpending"> = {
    raiseAlerts: (signal) => raiseAlerts({ database, clock, currency }, signal),
    sendNotices: () => sendNotices({ database, clock, siteUrl, sendMail }),
    checkAlarms: (signal) => checkAlarms({ database, ids, logger, channels, surroundings }, signal),
    ...(settings.request_log_days === 0 ? {} : { countTraffic: () => countTraffic({ database, clock, hasModel }) }),
    ...(cap === null ? {} : { capSpending: (signal) => capSpending({ database, clock, currency, cap }, signal) }),
  };
  return { blocks, jobs };
}

function openJobs({ database, metrics, time, copy }: Foundation, options: FeatureOptions, upkeep: Upkeep) {
  const { clock, ids, logger } = options;
  const { request_log_days: requestLogDays, task_days: taskDays, prompt_days: promptDays } = options.settings;
  const retention = { taskDays, promptDays };
  const contentLogDays = readContentDays(options.settings);
  return openScheduledJobs({
    ...{ database, clock, mayStart: () => time.hasAgreed() && copy.isLive() },
    closeTimeoutMs: options.settings.shutdown_timeout_ms,
    jobs: listJobs({
      ...{ database, clock, ids, currency: options.settings.currency },
      logger,
      metrics,
      requestLogDays,
      contentLogDays,
      retention,
      ...upkeep,
    }),
    onFailure(job, error) {
      metrics.jobFailures.at(job).add(1);
      logger.error({ job, error }, "scheduled job failed");
    },
    onTrouble: (error) => logger.warn({ error }, "scheduled jobs waiting for the database"),
  });
}

function createGatewayWebhooks(
  { database, feed, changes, masterKey, metrics, tracing }: Foundation,
  { settings, clock, ids, randomBytes, logger }: FeatureOptions,
  { random, files }: { random(): number; files: Pick<Files, "signLink"> },
): Webhooks {
  const webhooks = createWebhooks({
    ...{ database, clock, ids, random, randomBytes, masterKey, logger, metrics, tracing },
    allowsPrivate: settings.sandbox === "on",
    baseUrl: settings.base_url,
    onAttempted: (accountId) => changes.announce(accountId, "deliveries"),
    presentData: (data, now) => linkEvent(data, files.signLink, now),
  });
  // A task's change may be an event.
  for (const channel of ["tasks", "deliveries_due"]) {
    feed.subscribe(channel, { onChange: webhooks.pollSoon, onReset: webhooks.pollSoon });
  }
  return webhooks;
}

function createGatewaySite(foundation: Foundation, options: FeatureOptions, statusPage: StatusPage | null): Site {
  const { database, changes, counters, catalog, masterKey } = foundation;
  const { settings, clock, ids, randomBytes, logger, showMail = () => {} } = options;
  return createSite({
    ...{ database, changes, clock, ids, randomBytes, counters, logger, masterKey, catalog, showMail },
    outbox: options.siblings?.outbox,
    ...readSiteSettings(settings),
    statusPage,
    admission: createAdmission({
      ...{ database, clock, ids, logger },
      limits: {
        perNetworkMax: settings.sign_ups_per_network_daily_max,
        perDomainMax: settings.sign_ups_per_domain_daily_max,
        supportContact: settings.support_contact ?? null,
      },
    }),
    checkDatabase: () => pingDatabase(database),
    findOperatorRole: (userId) => findOperatorRole(database, userId),
    findView: (session, viewId) => narrowToView({ database, clock }, session, viewId),
    hasTasksDueBefore: (moment) => hasTasksDueBefore(database, moment),
    openAccount: async (tx, { email, isWelcome, ...person }) => {
      const credit = isWelcome ? describeWelcomeCredit(settings, clock.now()) : {};
      await openAccount(
        { database: tx, clock, ids },
        { email, person: { ...person, isEmailVerified: true }, ...credit },
      );
    },
  });
}

function rebrandSite(site: Site, { changes }: Pick<Foundation, "changes">, settings: Settings): void {
  site.rebrand(readBrandSettings(settings));
  changes.announceHere("site");
}

/** It expires, so that unused credit is not owed forever. */
function describeWelcomeCredit(settings: Settings, now: Date): Pick<Parameters<typeof openAccount>[1], "credit"> {
  const amount = readWelcomeCredit(settings);
  if (amount === null) return {};
  const expiresAt = new Date(now.getTime() + settings.welcome_credit_days * dayMs);
  const booking = { kind: "grant" as const, unit: "money" as const, amount, expiresAt };
  return { credit: { booking, actor: "sluice", reason: "Welcome credit", reference: null } };
}
