import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { createGatewayHttp } from "../../src/app/create-gateway-http.ts";
import { readPaymentSettings } from "../../src/app/read-payment-settings.ts";
import { readSiteSettings } from "../../src/app/read-site-settings.ts";
import { readTextLimits } from "../../src/app/read-text-limits.ts";
import { createAdmin } from "../../src/features/admin/index.ts";
import { createCalls } from "../../src/features/calls/index.ts";
import { createCatalogView } from "../../src/features/catalog/catalog-view.ts";
import { createChat } from "../../src/features/chat/index.ts";
import { createCompletions } from "../../src/features/completions/index.ts";
import { createDramas } from "../../src/features/dramas/index.ts";
import { createEmbeddings } from "../../src/features/embeddings/index.ts";
import { createFiles } from "../../src/features/files/index.ts";
import { createLedger } from "../../src/features/ledger/index.ts";
import { createMessages } from "../../src/features/messages/index.ts";
import { createPayments } from "../../src/features/payments/index.ts";
import { createQuotes } from "../../src/features/quotes/index.ts";
import { createResponses } from "../../src/features/responses/index.ts";
import { createSite } from "../../src/features/site/index.ts";
import { createSpeech } from "../../src/features/speech/index.ts";
import { createTasks } from "../../src/features/tasks/index.ts";
import { createTranscriptions } from "../../src/features/transcriptions/index.ts";
import { createWebhooks } from "../../src/features/webhooks/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { loadSettings } from "../../src/platform/config/load-settings.ts";
import { createMemoryCounters } from "../../src/platform/counters/memory-counters.ts";
import { createDatabase } from "../../src/platform/database/database.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createMetrics } from "../../src/platform/observability/metrics.ts";
import { createProviderRegistry } from "../../src/providers/provider-registry.ts";
import { createUpstreamHealth } from "../../src/providers/upstream-health.ts";

const nowhere = { connectionString: "postgres://localhost/nowhere" };

/** A stub: generating the documents reads and writes no data. */
async function refuse(): Promise<never> {
  throw new Error("No request is made.");
}

/** Generates the OpenAPI documents of the API and the site with default settings. Needs no database. */
export async function presentOpenApi(): Promise<{ api: string; console: string; admin: string }> {
  const database = createDatabase({ address: nowhere, connectionsMax: 1, onConnectionError: () => {} });
  const settings = loadSettings({ environment: {}, directory: tmpdir() });
  const clock = systemClock;
  const ids = createIdSource({ clock, randomBytes });
  const logger = createLogger({ level: "error", format: "json", write: () => {} });
  const counters = createMemoryCounters({ clock });
  const health = createUpstreamHealth({ clock });
  const registry = createProviderRegistry({ clock, studioFolder: tmpdir() });
  const catalog = { current: () => createCatalogView(null, health), close: () => {} };
  const ledger = createLedger({ database, address: nowhere, clock, onTrouble: () => {} });
  const random = (): number => 0;
  const quotes = createQuotes({ key: Buffer.alloc(32), clock });
  const calls = createCalls({
    ...{ database, quotes, clock, ids, ledger, counters, logger, health, random },
    ...{ currency: settings.currency, keyValidityMs: 0, heartbeatMs: settings.stream_heartbeat_ms },
    ...{ drainedCallsMax: 0, liveForMs: () => 0 },
  });
  const parts = { settings, clock, ids, logger, database, counters, catalog, calls, quotes };
  const chat = createChat({ calls, catalog, registry, clock, logger });
  const feed = { isLive: () => false, liveForMs: () => 0, subscribe: () => {}, close: async () => {} };
  const masterKey = { derive: () => Buffer.alloc(32) };
  const webhooks = createWebhooks({
    ...parts,
    masterKey,
    random,
    randomBytes,
    allowsPrivate: false,
    presentData: (data) => data,
    baseUrl: settings.base_url,
  });
  const files = createFiles({
    ...parts,
    bytes: { put: refuse, open: refuse, delete: refuse, list: refuse, close: refuse },
    spool: { write: refuse },
    images: { read: refuse, close: refuse },
    linkKey: masterKey.derive(),
    siteUrl: settings.site_url,
    keyedRequests: {
      parseKey: () => null,
      isKeyKnown: refuse,
      claimKey: refuse,
      renewClaim: () => () => {},
      lockClaim: refuse,
      keepAnswer: refuse,
      freeKey: refuse,
      forgetAnswer: refuse,
    },
    limits: {
      ...{ uploadBytesMax: 0, outputBytesMax: 0, retentionMs: 0 },
      ...{ accountFilesMax: 0, accountBytesMax: 0, unpaidFilesMax: 0, unpaidBytesMax: 0 },
    },
    hasMoney: refuse,
    onTrouble: () => {},
  });
  const guarded = { fetchBytes: refuse };
  const work = { feed, registry, health, files, guarded, ledger, random };
  const tasks = createTasks({
    ...parts,
    ...work,
    ...{ currency: settings.currency, baseUrl: settings.base_url, allowsPrivate: false },
    ...{
      keyValidityMs: 0,
      heartbeatMs: settings.stream_heartbeat_ms,
      closeTimeoutMs: 0,
      stepsMax: 1,
      connectionsMax: 4,
    },
    hookKey: Buffer.alloc(32),
    presentComposite: () => ({}),
  });
  const site = createSite({
    ...parts,
    ...readSiteSettings(settings),
    masterKey,
    randomBytes,
    changes: { watch: () => () => {} },
    statusPage: null,
    checkDatabase: refuse,
    findOperatorRole: refuse,
    findView: refuse,
    hasTasksDueBefore: refuse,
    openAccount: refuse,
    admission: { check: refuse, admit: refuse },
    showMail: () => {},
  });
  const admin = createAdmin({
    ...parts,
    randomBytes,
    masterKey,
    ...{ packagesFolder: tmpdir(), studioFolder: tmpdir() },
    setup: { hasPayments: false, hasMail: false, hasLogArchive: false, isDatabaseExternal: false },
    ...{
      siteUrl: settings.site_url,
      currency: settings.currency,
      readSession: refuse,
      presentViewCookie: () => "",
      notifyChange: () => {},
      changeAccount: refuse,
    },
    ...{ requestDays: 0, commands: null, refundPayment: refuse, cancelTask: refuse, purgeFiles: refuse },
    listTaskProviders: () => [],
    retention: { fileDays: 0, taskDays: 0, requestDays: 0 },
  });
  const http = await createGatewayHttp({
    ...parts,
    randomBytes,
    ledger,
    admin,
    site,
    chat,
    completions: createCompletions({ calls, chat }),
    messages: createMessages({ ...parts, chat, calls }),
    dramas: createDramas({ ...parts, chat, files, tasks, folder: tmpdir() }),
    embeddings: createEmbeddings({ calls, catalog, registry, clock }),
    files,
    payments: createPayments({ ...parts, ...readPaymentSettings(settings) }),
    responses: createResponses({
      ...parts,
      chat,
      files,
      heartbeatMs: settings.stream_heartbeat_ms,
      days: 0,
      ...readTextLimits(settings),
      claims: { validityMs: 0, liveForMs: () => 0, releaseHold: refuse },
      getKeyCaller: refuse,
    }),
    speech: createSpeech({ calls, catalog, registry, clock, tasks }),
    tasks,
    transcriptions: createTranscriptions({ catalog, registry, clock, calls, files }),
    webhooks,
    callers: { recall: () => null, find: async () => null, findOrRecall: async () => null, isUnknown: () => false },
    keyUses: { note: () => {} },
    requestLog: { note: () => {}, amend: () => {} },
    contentSeal: { open: refuse },
    contentAllowance: { take: () => false, give: () => {} },
    statusPage: null,
    blocks: { requireUnblocked: () => {} },
    metrics: createMetrics(),
    readers: { watch: () => () => () => {} },
    checkDatabase: async () => {},
    isStopping: () => false,
    copy: { isLive: () => true, requireLive: () => {} },
  });
  await http.ready();
  const document = http.swagger();
  const consoleDocument = (await http.inject("/console/api/openapi.json")).json();
  const adminDocument = admin.describe();
  await http.close();
  await tasks.close();
  await webhooks.close();
  await calls.close();
  await registry.close();
  await ledger.close();
  await database.destroy();
  return {
    api: `${JSON.stringify(document, null, 2)}\n`,
    console: `${JSON.stringify(consoleDocument, null, 2)}\n`,
    admin: `${JSON.stringify(adminDocument, null, 2)}\n`,
  };
}
