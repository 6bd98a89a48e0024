import { join } from "node:path";
import { type LiveCatalog, openLiveCatalog, publishHealth, publishVendorLimits } from "../features/catalog/index.ts";
import { createLedger, type Ledger, requireLedgerCurrency } from "../features/ledger/index.ts";
import { createStoredSecrets, recordSecretUses } from "../features/secrets/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { AccountId, IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { type MasterKey, openMasterKey } from "../platform/config/master-key.ts";
import type { Counters } from "../platform/counters/counters.ts";
import {
  type AccountChanges,
  accountChangeChannels,
  createAccountChanges,
} from "../platform/database/account-changes.ts";
import { type ChangeFeed, openChangeFeed } from "../platform/database/change-feed.ts";
import { copyStateChannel, requireWhole } from "../platform/database/copy-state.ts";
import type { Database, DatabaseAddress } from "../platform/database/database.ts";
import { type DatabaseClock, readTime } from "../platform/database/database-clock.ts";
import { locateLogSpool } from "../platform/database/embedded/cluster-directory.ts";
import { migrate } from "../platform/database/migrate.ts";
import { type NodeFacts, presentNodeName } from "../platform/database/node-names.ts";
import { openDatabase } from "../platform/database/open-database.ts";
import type { PoolUse } from "../platform/database/pool-driver.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { type DecoderFinding, examineDecoders } from "../platform/media/examine-decoders.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { createMetrics, type MetricRegistry } from "../platform/observability/metrics.ts";
import { createOutageLog } from "../platform/observability/outage-log.ts";
import { identifyStorage } from "../platform/storage/identify-storage.ts";
import type { Tracing } from "../platform/tracing/span.ts";
import { createProviderRegistry, type ProviderRegistry } from "../providers/provider-registry.ts";
import { createUpstreamHealth, type UpstreamHealth } from "../providers/upstream-health.ts";
import { createFaultLog } from "./fault-log.ts";
import { keepTime, type TimeKeeping } from "./keep-time.ts";
import { openCounters } from "./open-counters.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { type FirstRun, prepareFirstRun } from "./prepare-first-run.ts";
import type { Siblings } from "./processes/siblings.ts";
import { requireSharedNodes } from "./require-shared-nodes.ts";
import { type CopyWatch, watchCopy } from "./watch-copy.ts";

/** Database, ledger, caches and other dependencies of the features. */
export type Foundation = {
  metrics: MetricRegistry;
  database: Database;
  address: DatabaseAddress;
  feed: ChangeFeed;
  changes: AccountChanges;
  catalog: LiveCatalog;
  counters: Counters;
  ledger: Ledger;
  registry: ProviderRegistry;
  health: UpstreamHealth;
  masterKey: MasterKey;
  firstRun: FirstRun | null;
  notices: readonly DecoderFinding[];
  time: TimeKeeping;
  copy: CopyWatch;
  tracing: Tracing | null;
};

export type FoundationOptions = {
  settings: Settings;
  clock: Clock;
  /** The clock that follows the database's time; absent in tests with their own clock. */
  databaseClock?: DatabaseClock;
  /** The gateway's id among others on its database; enables the check for unshared nodes. */
  group?: string;
  /** Set if this is one of several processes. */
  siblings?: Siblings;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  logger: Logger;
  onProgress(sentence: string): void;
  onLost(error: Error): void;
};

type Abandoned = { abandoned: AbortSignal };

/** One for the change feed, one for the ledger. */
const connectionsBesidePool = 2;

/** Opens and migrates the database and connects the change feed. `stack` closes everything. */
export async function openFoundation(
  options: FoundationOptions & Abandoned,
  stack: AsyncDisposableStack,
): Promise<Foundation> {
  const { settings, clock, databaseClock, ids, logger, siblings, abandoned } = options;
  const warn = (message: string) => (error: unknown) => logger.warn({ error }, message);
  const watchOutage = (begins: string, ends: string) => createOutageLog({ logger, clock, begins, ends });
  const metrics = createMetrics();
  // Opened first, so closed last: the end of other parts is still exported.
  const { tracing, ...telemetry } = await openTelemetry({ settings, metrics, clock, ids, logger });
  stack.defer(() => telemetry.close());
  // Runs in child processes while the database starts.
  const examined = examineDecoders();
  const opened = await openDatabase({
    url: settings.database_url,
    dataDir: settings.data_dir,
    logSpool: locateLogSpool(settings),
    purpose: siblings === undefined ? "gateway" : "process",
    connectionsMax: settings.database_connections - connectionsBesidePool,
    onProgress: options.onProgress,
    onConnectionError: warn("database connection lost"),
    onLost: options.onLost,
    abandoned,
    startTimeoutMs: settings.database_start_timeout_ms,
    onPool: (read) => observePool(metrics, read),
  });
  const { database, address } = opened;
  stack.defer(opened.close);
  const notices = requireConfinement(settings, await examined);
  for (const { message, remedy } of notices) logger.warn({ remedy }, message);
  const time = keepTime(databaseClock, logger);
  stack.defer(() => time.close());
  time.hear(await readTime(database));
  const firstRun = await prepareDatabase({ database, address }, options);
  const node = await describeNode(options);
  const feed = await openChangeFeed({
    address,
    channels: [
      "blocks",
      "callers",
      "catalog",
      "deliveries_due",
      "sessions",
      "tasks",
      "tasks_due",
      copyStateChannel,
      ...accountChangeChannels,
    ],
    onTrouble: warn("change feed disconnected, caches bypassed"),
    onTime: time.hear,
    ...(node === null ? {} : { sessionName: presentNodeName(node) }),
  });
  stack.defer(() => feed.close());
  if (node !== null) await requireSharedNodes({ database, settings, logger }, node);
  const copy = await watchCopy({ database, feed, logger });
  stack.defer(() => copy.close());
  const changes = createAccountChanges({ database, feed, onTrouble: warn("account change notification failed") });
  stack.defer(() => changes.close());
  const upstreams = await openUpstreams({ database, feed, metrics, watchOutage }, options, stack);
  const { catalog } = upstreams;
  requireCurrency(settings, catalog.current().catalog?.currency);
  const counters = await openCounters({ settings, clock, logger, metrics, siblings });
  stack.defer(() => counters.close());
  const waits = watchOutage("ledger waiting for the database", "ledger writing again");
  const onBooked = (accountId: AccountId): void => changes.announce(accountId, "balance");
  const ledger = createLedger({ database, address, clock, abandoned, metrics, tracing, onBooked, ...waits });
  stack.defer(() => ledger.close());
  const kept = { ...upstreams, counters, ledger };
  return { metrics, database, address, feed, changes, ...kept, firstRun, notices, time, copy, tracing };
}

type UpstreamDependencies = Pick<Foundation, "database" | "feed" | "metrics"> & {
  watchOutage(begins: string, ends: string): ReturnType<typeof createOutageLog>;
};

/** The catalog with everything that decides how its upstreams are called. */
async function openUpstreams(
  { database, feed, metrics, watchOutage }: UpstreamDependencies,
  { settings, clock, ids, randomBytes, logger }: FoundationOptions,
  stack: AsyncDisposableStack,
): Promise<Pick<Foundation, "catalog" | "registry" | "health" | "masterKey">> {
  const { packages_dir: packagesFolder, data_dir: dataDir } = settings;
  const health = createUpstreamHealth({ clock, metrics });
  const masterKey = await openMasterKey(settings, randomBytes);
  const secrets = createStoredSecrets({ database, masterKey });
  const registry = createProviderRegistry({ clock, studioFolder: join(dataDir, "studio"), packagesFolder, secrets });
  stack.defer(() => registry.close());
  const { loadAdapters } = registry;
  const catalog = await openLiveCatalog({
    ...{ database, clock, feed, health, loadAdapters, packagesFolder, secrets },
    ...watchOutage("catalog read failed", "catalog read again"),
    onFaults: createFaultLog(logger),
  });
  stack.defer(() => catalog.close());
  const publisher = publishHealth({
    ...{ database, clock, health, nodeId: ids.next("node") },
    ...watchOutage("upstream health report failed", "upstream health reported again"),
  });
  stack.defer(() => publisher.close());
  const limits = publishVendorLimits({
    ...{ database, clock, catalog },
    ...watchOutage("rate limits of vendors not written", "rate limits of vendors written again"),
  });
  stack.defer(() => limits.close());
  const uses = recordSecretUses({
    ...{ database, secrets, clock },
    ...watchOutage("last use of secrets not written", "last use of secrets written again"),
  });
  stack.defer(() => uses.close());
  return { catalog, registry, health, masterKey };
}

/** Registers this gateway for others on the database. An embedded database has no others. */
async function describeNode({ settings, group, randomBytes }: FoundationOptions): Promise<NodeFacts | null> {
  if (group === undefined || settings.database_url === undefined) return null;
  const counts = settings.redis_url === undefined ? "memory" : "redis";
  return { storage: await identifyStorage(settings, randomBytes), counts, group };
}

function observePool(
  metrics: Pick<MetricRegistry, "poolConnections" | "poolConnectionsMax" | "poolWaiting">,
  read: () => PoolUse,
): void {
  metrics.poolConnections.observe(() => {
    const { used, idle } = read();
    return [
      [used, "used"],
      [idle, "idle"],
    ];
  });
  metrics.poolConnectionsMax.observe(() => [[read().max]]);
  metrics.poolWaiting.observe(() => [[read().waiting]]);
}

/** Migrates, checks the currency and prepares an empty sandbox. */
async function prepareDatabase(
  { database, address }: { database: Database; address: DatabaseAddress },
  { settings, clock, ids, randomBytes, logger, onProgress }: FoundationOptions,
): Promise<FirstRun | null> {
  await requireWhole(database);
  const applied = await migrate(address, { onProgress });
  if (applied.length > 0) logger.info({ migrations: applied }, "migrated");
  await requireLedgerCurrency(database, settings.currency);
  if (settings.sandbox !== "on") return null;
  return await prepareFirstRun({ database, clock, ids, randomBytes }, settings.currency);
}

/** Warnings about the machine; throws if media_confinement is required and missing. */
function requireConfinement(
  { media_confinement: wanted }: Settings,
  findings: readonly DecoderFinding[],
): readonly DecoderFinding[] {
  const notices = findings.filter(({ isOk }) => !isOk);
  const missing = notices.find(({ check }) => check === "confinement");
  if (wanted === "preferred" || missing === undefined) return notices;
  throw new OperatorError(
    `media_confinement is required, but ${missing.message}.`,
    `${missing.remedy} Or set media_confinement to preferred, to run unconfined.`,
  );
}

/** Existing amounts would silently change their meaning. */
function requireCurrency({ currency }: Settings, catalogCurrency: string | undefined): void {
  if (catalogCurrency === undefined || catalogCurrency === currency) return;
  throw new OperatorError(
    `The catalog in force is in ${catalogCurrency}, but the setting currency is ${currency}.`,
    `Set currency to ${catalogCurrency}, or use a new data_dir or database for another currency.`,
  );
}
