// The gateway with 500 models, with its complete HTTP layer, in a separate process.
import { tmpdir } from "node:os";
import { createGatewayHttp } from "../src/app/create-gateway-http.ts";
import { createKeyUses } from "../src/features/accounts/index.ts";
import { createQuotes } from "../src/features/quotes/index.ts";
import { loadSettings } from "../src/platform/config/load-settings.ts";
import { createMemoryCounters } from "../src/platform/counters/memory-counters.ts";
import { listenHttp } from "../src/platform/http/listen-http.ts";
import { createLogger } from "../src/platform/observability/logger.ts";
import { createMetrics } from "../src/platform/observability/metrics.ts";
import { openBenchParts } from "./open-bench-parts.ts";
import { serveOnRequest } from "./serve-on-request.ts";

const parts = await openBenchParts();
/** This bench requests models only. */
const nothing = { addRoutes: () => {}, quotables: [], addLinkRoutes: () => {} };
const keyUses = createKeyUses({ database: parts.database, onTrouble: () => {} });
const http = await createGatewayHttp({
  ...parts,
  settings: loadSettings({ environment: {}, directory: tmpdir() }),
  counters: createMemoryCounters({ clock: parts.clock }),
  logger: createLogger({ level: "info", format: "json", write: () => {} }),
  ledger: { estimateSpendable: () => null },
  quotes: createQuotes({ key: Buffer.alloc(32), clock: parts.clock }),
  chat: nothing,
  completions: nothing,
  messages: nothing,
  dramas: nothing,
  embeddings: nothing,
  files: nothing,
  responses: { addRoutes: () => {}, quotables: [] },
  payments: { addRoutes: () => {}, addWebhookRoutes: async () => {} },
  admin: { addRoutes: async () => {} },
  site: { addRoutes: async () => {}, getBrandName: () => "Sluice" },
  statusPage: null,
  blocks: { requireUnblocked: () => {} },
  speech: nothing,
  tasks: { addRoutes: () => {}, quotables: [], addHookRoutes: async () => {} },
  transcriptions: nothing,
  webhooks: nothing,
  keyUses,
  requestLog: { note: () => {}, amend: () => {} },
  contentSeal: { open: async () => Promise.reject(new Error("no content is read here")) },
  contentAllowance: { take: () => false, give: () => {} },
  metrics: createMetrics(),
  readers: { watch: () => () => () => {} },
  checkDatabase: async () => {},
  isStopping: () => false,
  copy: { isLive: () => true, requireLive: () => {} },
});
const doors = await listenHttp(http, { host: "127.0.0.1", port: 0 });
serveOnRequest({
  port: doors.port,
  key: parts.key,
  async close() {
    await doors.close(0);
    await keyUses.close();
    await parts.close();
  },
});
