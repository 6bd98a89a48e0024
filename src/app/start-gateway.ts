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

/** What whoever starts a gateway is told of it. */
export type Welcome = {
  port: number;
  /** Where metrics are served; `null` where they are not. */
  metricsPort: number | null;
  /** The demo account's key and password, on the run that made it. */
  firstRun: FirstRun | null;
  /** Where mails that are not sent can be read. A secret: whoever has it can sign in as anybody. */
  outboxUrl: string | null;
  /** What the operator should mend, and how. */
  notices: readonly Notice[];
};

export type Gateway = Welcome & {
  /** Which version of the catalog is served at the moment; 0 before there is one. */
  catalogVersion(): number;
  connections: HttpListeners["connections"];
  collectMetrics: GatewayMetrics["collect"];
  rebrand: Features["rebrand"];
  /**
   * Leaves service and says so to whoever asks, serves on for the delay, lets running requests finish, then ends everything
   * in the reverse order of the start. Where others on its port go on (`alone`), it takes no new connections from the
   * beginning, and nobody is told to go elsewhere than there.
   */
  close(options?: { delayMs: number; alone?: boolean }): Promise<void>;
};

export type GatewayOptions = FeatureOptions;

/** Builds every part from the settings and starts it: what features stand on, the features, then the doors. */
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
  // Before anything else is started: a certificate that cannot be used is the operator's to mend.
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
  // Calls whose callers have left are nobody's connection: they have the same time.
  const timeoutMs = settings.shutdown_timeout_ms;
  stack.defer(async () => {
    await Promise.all([doors.close(timeoutMs, () => calls.close()), calls.untilDrained(timeoutMs)]);
  });
  return {
    ...{ port: doors.port, metricsPort, firstRun, outboxUrl, connections: doors.connections, collectMetrics: collect },
    rebrand,
    notices: copy.isLive() ? notices : [copyNotice, ...notices],
    catalogVersion: () => catalog.current().catalog?.version ?? 0,
    async close({ delayMs, alone = false } = { delayMs: 0 }) {
      if (alone) doors.leave();
      else isStopping = true;
      time.close();
      copy.close();
      stopWorking();
      // Load balancers need a while to hear that they should send nothing more.
      await doors.drain(delayMs);
      const abandon = async (): Promise<void> => {
        await checkReady().catch(() => abandonment.abort());
      };
      // Whatever waits for a database that says nothing would put the end off.
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

/** Opens the door for those who watch, where the settings want one. It is the last to be closed but for what it watches. */
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
      invariant(!isStopping(), "it is about to stop");
      await checkDatabase();
    },
  });
  stack.defer(close);
  // Where several processes serve, their supervisor tells for all.
  if (port === undefined || siblings !== undefined) return { collect, metricsPort: null };
  const server = await startMetricsServer({ host, port, collect });
  stack.defer(() => server.close());
  return { collect, metricsPort: server.port };
}
