import { join } from "node:path";
import { createCallerDirectory, createKeyUses } from "../features/accounts/index.ts";
import { createCalls } from "../features/calls/index.ts";
import { openLiveCatalog, publishHealth } from "../features/catalog/index.ts";
import { createChat } from "../features/chat/index.ts";
import { createDramas, type DramaFailpoint, presentDramaRequest } from "../features/dramas/index.ts";
import { createLedger, requireLedgerCurrency } from "../features/ledger/index.ts";
import { createPayments, type StripePlace } from "../features/payments/index.ts";
import { createSite } from "../features/site/index.ts";
import { createTasks, hasTasksDueBefore, linkEvent, type TaskFailpoint } from "../features/tasks/index.ts";
import { createWebhooks } from "../features/webhooks/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { openMasterKey } from "../platform/config/master-key.ts";
import { openChangeFeed } from "../platform/database/change-feed.ts";
import { pingDatabase } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { openDatabase } from "../platform/database/open-database.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { openDoors } from "../platform/http/open-doors.ts";
import { openScheduledJobs } from "../platform/jobs/scheduled-jobs.ts";
import { type DecoderFinding, examineDecoders } from "../platform/media/examine-decoders.ts";
import { createGuardedClient } from "../platform/net/guarded-client.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { createProviderRegistry } from "../providers/provider-registry.ts";
import { createUpstreamHealth } from "../providers/upstream-health.ts";
import { openAccount } from "./change-account.ts";
import { createGatewayHttp } from "./create-gateway-http.ts";
import { listJobs } from "./list-jobs.ts";
import { openCounters } from "./open-counters.ts";
import { openFiles } from "./open-files.ts";
import { type FirstRun, prepareFirstRun } from "./prepare-first-run.ts";
import { readPaymentSettings } from "./read-payment-settings.ts";
import { watchReaders } from "./watch-readers.ts";

export type Gateway = {
  port: number;
  /** The demo account's key and password, on the run that made it. */
  firstRun: FirstRun | null;
  /** Where mails that are not sent can be read. A secret: whoever has it can sign in as anybody. */
  outboxUrl: string | null;
  /** What the operator should mend, and how. */
  notices: readonly DecoderFinding[];
  /** Which version of the catalog is served at the moment; 0 before there is one. */
  catalogVersion(): number;
  /** Lets running requests finish, then ends everything in the reverse order of the start. */
  close(): Promise<void>;
};

export type GatewayParts = {
  settings: Settings;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  logger: Logger;
  /** Called where a task has got to. Tests let the process die there. */
  failpoint?: (name: TaskFailpoint | DramaFailpoint) => void;
  /** Shows a mail that is not sent to the person at the terminal. Its links are secrets: a log is no place for it. */
  showMail?: (text: string) => void;
  /** Where payments are asked for; only tests have another place than Stripe's own. */
  stripe?: StripePlace;
  /** Told about everything that takes long. */
  onProgress(sentence: string): void;
  /** Told when the gateway cannot go on. */
  onLost(error: Error): void;
};

const hourMs = 60 * 60 * 1000;
/** One hears of changes (the change feed), one writes payments (the ledger). */
const connectionsBesidePool = 2;

/** Builds every part from the settings and starts it: the database, its schema, the first run, then the doors. */
export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { settings, logger } = parts;
  // Takes a moment in other processes, while the database starts in another.
  const examined = examineDecoders();
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne();
  };

  try {
    const {
      database,
      address,
      close: closeDatabase,
    } = await openDatabase({
      url: settings.database_url,
      dataDir: settings.data_dir,
      purpose: "gateway",
      connectionsMax: settings.database_connections - connectionsBesidePool,
      onProgress: parts.onProgress,
      onConnectionError: (error) => logger.warn({ error }, "a database connection broke"),
      onLost: parts.onLost,
    });
    closers.push(closeDatabase);
    const notices = requireConfinement(settings, await examined);
    for (const { message, remedy } of notices) logger.warn({ remedy }, message);
    const applied = await migrate(database);
    if (applied.length > 0) logger.info({ migrations: applied }, "migrated");
    await requireLedgerCurrency(database, settings.currency);
    const firstRun =
      settings.sandbox === "on" ? await prepareFirstRun({ ...parts, database }, settings.currency) : null;
    const feed = await openChangeFeed({
      address,
      channels: ["callers", "catalog", "sessions", "tasks", "tasks_due"],
      onTrouble: (error) => logger.warn({ error }, "changes are not heard for a moment"),
    });
    closers.push(() => feed.close());
    const health = createUpstreamHealth(parts);
    const registry = createProviderRegistry({ clock: parts.clock, studioFolder: join(settings.data_dir, "studio") });
    closers.push(() => registry.close());
    const catalog = await openLiveCatalog({
      database,
      feed,
      health,
      loadAdapters: registry.loadAdapters,
      onTrouble: (error) => logger.warn({ error }, "the catalog could not be read"),
    });
    closers.push(async () => catalog.close());
    requireCurrency(settings, catalog.current().catalog?.currency);
    const counters = await openCounters(parts);
    closers.push(() => counters.close());
    const ledger = createLedger({
      ...parts,
      database,
      address,
      onTrouble: (error) => logger.warn({ error }, "payments wait for the database"),
    });
    closers.push(() => ledger.close());
    const publisher = publishHealth({
      ...parts,
      database,
      health,
      nodeId: parts.ids.next("node"),
      onTrouble: (error) => logger.warn({ error }, "the health of upstreams could not be told"),
    });
    closers.push(() => publisher.close());
    const random = (): number => Buffer.from(parts.randomBytes(6)).readUIntBE(0, 6) / 2 ** 48;
    const { clock, ids } = parts;
    const calls = createCalls({
      ...{ database, clock, ids, ledger, counters, logger, health, random },
      currency: settings.currency,
      keyValidityMs: settings.idempotency_hours * hourMs,
      heartbeatMs: settings.stream_heartbeat_ms,
      drainedCallsMax: settings.drained_calls_max,
    });
    closers.push(() => calls.close());
    const chat = createChat({ calls, catalog, registry, clock, logger });
    const masterKey = await openMasterKey(settings, parts.randomBytes);
    const { files, removeExpired, close: closeFiles } = await openFiles({ ...parts, database, counters, masterKey });
    closers.push(closeFiles);
    const allowsPrivate = settings.sandbox === "on";
    const webhooks = createWebhooks({
      ...parts,
      database,
      masterKey,
      random,
      allowsPrivate,
      presentData: (data, now) => linkEvent(data, files.signLink, now),
      baseUrl: settings.base_url,
    });
    closers.push(() => webhooks.close());
    // Most of what is to be sent comes with a task.
    feed.subscribe("tasks", { onChange: webhooks.lookSoon, onReset: webhooks.lookSoon });
    const payments = createPayments({
      ...{ database, clock, ids, logger },
      ...readPaymentSettings(settings),
      place: parts.stripe,
    });
    closers.push(() => payments.close());
    const jobs = await openScheduledJobs({
      ...{ database, clock },
      jobs: listJobs({ ...parts, database, removeExpiredFiles: removeExpired, sweepCheckouts: payments.sweep }),
      onFailure: (job, error) => logger.error({ job, error }, "a scheduled job failed"),
      onTrouble: (error) => logger.warn({ error }, "scheduled jobs wait for the database"),
      closeTimeoutMs: settings.shutdown_timeout_ms,
    });
    closers.push(() => jobs.close());
    const guarded = createGuardedClient({ allowsPrivate: false });
    closers.push(() => guarded.close());
    const shared = { database, feed, catalog, registry, health, files, guarded, ledger, counters, random };
    const work = { ...shared, calls };
    const failpoint = parts.failpoint ?? (() => {});
    const tasks = createTasks({ ...parts, ...work, failpoint, presentComposite: presentDramaRequest });
    closers.push(() => tasks.close());
    const dramas = createDramas({ ...parts, ...work, chat, tasks, failpoint });
    const site = createSite({
      ...parts,
      database,
      counters,
      masterKey,
      catalog,
      checkDatabase: () => pingDatabase(database),
      hasTasksDueBefore: (moment) => hasTasksDueBefore(database, moment),
      openAccount: async (tx, person) => {
        const { email, ...rest } = person;
        await openAccount({ ...parts, database: tx }, { email, person: { ...rest, isEmailVerified: true } });
      },
      showMail: parts.showMail ?? (() => {}),
    });
    closers.push(() => site.close());
    const keyUses = createKeyUses({
      database,
      onTrouble: (error) => logger.warn({ error }, "the use of keys could not be noted"),
    });
    closers.push(() => keyUses.close());
    const readers = watchReaders({ ...parts, database, feed });
    closers.push(async () => readers.close());
    const http = await createGatewayHttp({
      ...parts,
      database,
      catalog,
      counters,
      ledger,
      chat,
      dramas,
      files,
      payments,
      site,
      tasks,
      webhooks,
      callers: createCallerDirectory({ database, feed }),
      keyUses,
      readers,
      checkDatabase: () => pingDatabase(database),
    });
    if (settings.workers === "on") {
      webhooks.startDelivering();
      tasks.startWorking(dramas.orchestrate);
    }
    const doors = await openDoors(http, settings);
    // Calls whose callers have left are nobody's connection: they have the same time.
    const timeoutMs = settings.shutdown_timeout_ms;
    closers.push(async () => {
      await Promise.all([doors.close(timeoutMs, () => calls.close()), calls.untilDrained(timeoutMs)]);
    });
    const catalogVersion = (): number => catalog.current().catalog?.version ?? 0;
    return { port: doors.port, firstRun, outboxUrl: site.outboxUrl, notices, catalogVersion, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What is wrong with the machine and can be borne; an error where the operator says that it cannot. */
function requireConfinement(
  { media_confinement: wanted }: Settings,
  findings: readonly DecoderFinding[],
): readonly DecoderFinding[] {
  const notices = findings.filter(({ isOk }) => !isOk);
  const missing = notices.find(({ check }) => check === "confinement");
  if (wanted === "preferred" || missing === undefined) return notices;
  throw new OperatorError(
    `The setting media_confinement is required, but ${missing.message}.`,
    `${missing.remedy} Or write media_confinement: preferred, which goes without.`,
  );
}

/** Amounts that are already written would silently mean something else. */
function requireCurrency({ currency }: Settings, catalogCurrency: string | undefined): void {
  if (catalogCurrency === undefined || catalogCurrency === currency) return;
  throw new OperatorError(
    `The catalog in force is in ${catalogCurrency}, but the setting currency is ${currency}.`,
    `Write currency: ${catalogCurrency}, or use another data_dir or database for another currency.`,
  );
}
