import type { Clock } from "../lib/clock.ts";
import { invariant } from "../lib/invariant.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { databaseLimits } from "../platform/database/database-limits.ts";
import { type CertificateFiles, followCertificate, readCertificate } from "../platform/http/certificate.ts";
import { type HttpListeners, listenHttp } from "../platform/http/listen-http.ts";
import { serveMetrics as startMetricsServer } from "../platform/observability/serve-metrics.ts";
import { checkReadiness } from "./check-readiness.ts";
import { createFeatures, type FeatureOptions, type Features } from "./create-features.ts";
import { createGatewayHttp } from "./create-gateway-http.ts";
import { isHealthPath, shareChecks } from "./health-routes.ts";
import { type GatewayMetrics, observeGateway } from "./observe-gateway.ts";
import { type Foundation, openFoundation } from "./open-foundation.ts";
import type { FirstRun } from "./prepare-first-run.ts";
import { copyNotice } from "./watch-copy.ts";
import { watchReaders } from "./watch-readers.ts";

type Notice = { message: string; remedy?: string | undefined };

export type Welcome = {
  port: number;
  /** `null` if metrics are not served. */
  metricsPort: number | null;
  /** The demo account, on the first run. */
  firstRun: FirstRun | null;
  /** The outbox link. A secret: it allows a sign-in to every account. */
  outboxUrl: string | null;
  notices: readonly Notice[];
};

export type Gateway = Welcome & {
  /** The served catalog version; 0 without one. */
  catalogVersion(): number;
  connections: HttpListeners["connections"];
  countRunningCalls: Features["calls"]["countRunning"];
  collectMetrics: GatewayMetrics["collect"];
  rebrand: Features["rebrand"];
  /**
   * Graceful shutdown: fails readiness, serves for the delay, lets running requests finish, then closes everything in
   * reverse order. With `alone`, other processes on the port continue: no new connections, and readiness does not fail.
   */
  close(options?: { delayMs: number; alone?: boolean }): Promise<void>;
};

export type GatewayOptions = FeatureOptions;

/** Builds and starts everything: foundation, features, then the HTTP listeners. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const stack = new AsyncDisposableStack();
  try {
    return await openGateway(options, stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function openGateway(options: GatewayOptions, stack: AsyncDisposableStack): Promise<Gateway> {
  const { settings, clock, ids, randomBytes, logger } = options;
  const abandonment = new AbortController();
  // First, so that an invalid certificate fails the start early.
  const files = findCertificateFiles(settings);
  const certificate = files && (await readCertificate(files));
  const foundation = await openFoundation({ ...options, abandoned: abandonment.signal }, stack);
  const { metrics, database, feed, catalog, counters, ledger, firstRun, notices, time, copy, tracing } = foundation;
  const made = await createFeatures(foundation, options, stack);
  const { calls, outboxUrl, rebrand, startWorking, stopWorking, ...features } = made;
  const checkReady = (): Promise<void> => checkReadiness({ database, ledger });
  const readers = watchReaders({ database, feed, clock, logger });
  stack.defer(() => readers.close());
  let isStopping = false;
  const checkDatabase = shareChecks(clock, async () => {
    time.requireAgreement();
    await checkReady();
  });
  const http = await createGatewayHttp({
    ...{
      settings,
      certificate,
      clock,
      ids,
      randomBytes,
      logger,
      metrics,
      database,
      catalog,
      counters,
      ledger,
      readers,
      tracing,
    },
    ...{ ...features, copy, checkDatabase, isStopping: () => isStopping },
  });
  const { collect, metricsPort } = await serveMetrics(
    { ...foundation, clock, checkDatabase, isStopping: () => isStopping },
    options,
    stack,
  );
  if (settings.roles.includes("worker")) time.whenAgreed(() => copy.whenLive(startWorking));
  const doors = await listenHttp(http, { ...settings, isProbe: isHealthPath });
  if (files !== null && certificate !== null) {
    stack.use(followCertificate(http.server, { files, current: certificate, logger }));
  }
  // Calls without a client connection get the same time to finish.
  const timeoutMs = settings.shutdown_timeout_ms;
  stack.defer(async () => {
    await Promise.all([doors.close(timeoutMs, () => calls.close()), calls.untilDrained(timeoutMs)]);
  });
  return {
    ...{ port: doors.port, metricsPort, firstRun, outboxUrl, connections: doors.connections, collectMetrics: collect },
    countRunningCalls: calls.countRunning,
    rebrand,
    notices: copy.isLive() ? notices : [copyNotice, ...notices],
    catalogVersion: () => catalog.current().catalog?.version ?? 0,
    async close({ delayMs, alone = false } = { delayMs: 0 }) {
      if (alone) doors.leave();
      else isStopping = true;
      time.close();
      copy.close();
      stopWorking();
      // Load balancers need time to notice.
      await doors.drain(delayMs);
      const abandon = async (): Promise<void> => {
        await checkReady().catch(() => abandonment.abort());
      };
      // Queries to a hanging database would delay the shutdown.
      const late = setTimeout(abandon, timeoutMs + databaseLimits.abandonAfterMs);
      await stack.disposeAsync();
      clearTimeout(late);
    },
  };
}

function findCertificateFiles({ tls_cert_file: certFile, tls_key_file: keyFile }: Settings): CertificateFiles | null {
  return certFile === undefined || keyFile === undefined ? null : { certFile, keyFile };
}

type Observable = Foundation & { clock: Clock; checkDatabase(): Promise<void>; isStopping(): boolean };

/** Starts the metrics server if set. Closed after everything except what it observes. */
async function serveMetrics(
  { checkDatabase, isStopping, ...observable }: Observable,
  { settings, siblings }: GatewayOptions,
  stack: AsyncDisposableStack,
): Promise<{ collect: GatewayMetrics["collect"]; metricsPort: number | null }> {
  const { metrics_host: host, metrics_port: port, currency } = settings;
  const { collect, close } = observeGateway({
    ...observable,
    currency,
    async checkReady() {
      invariant(!isStopping(), "the gateway is stopping");
      await checkDatabase();
    },
  });
  stack.defer(close);
  // With several processes, the supervisor serves metrics.
  if (port === undefined || siblings !== undefined) return { collect, metricsPort: null };
  const server = await startMetricsServer({ host, port, collect });
  stack.defer(() => server.close());
  return { collect, metricsPort: server.port };
}
