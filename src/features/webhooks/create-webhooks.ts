import type { Clock } from "../../lib/clock.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import { createGuardedClient } from "../../platform/net/guarded-client.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { createMetrics, type Metrics } from "../../platform/observability/metrics.ts";
import { createOutageLog } from "../../platform/observability/outage-log.ts";
import type { Tracing } from "../../platform/tracing/span.ts";
import { ensureAccountSecret } from "./account-secret.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import { followEvents } from "./follow-events.ts";
import { createSecretBox } from "./secret-box.ts";
import { type Dispatcher, startDispatcher } from "./start-dispatcher.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";
import { addEndpointRoutes } from "./webhook-endpoint-routes.ts";
import type { PresentData } from "./webhook-event.ts";
import { addEventRoutes } from "./webhook-event-routes.ts";
import { addSecretRoutes } from "./webhook-secret-routes.ts";
import { addSessionRoutes } from "./webhook-session-routes.ts";

export type Webhooks = {
  addRoutes(v1: HttpServer): void;
  /** Starts sending due deliveries in this process. */
  startDelivering(): void;
  /** Hints that a delivery may be due; without it, polling finds it within half a second. */
  pollSoon(): void;
  /** Lets running attempts finish, and leaves the rest to other nodes. */
  stopDelivering(): void;
  close(): Promise<void>;
};

type WebhooksDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** In [0, 1). */
  random(): number;
  randomBytes: (count: number) => Uint8Array;
  masterKey: MasterKey;
  logger: Logger;
  metrics?: Pick<Metrics, "deliveryAttempts">;
  presentData: PresentData;
  /** The API's public URL. */
  baseUrl: string;
  /** For development: allows private addresses and plain HTTP. */
  allowsPrivate: boolean;
  /** Notifies the owner of a disabled endpoint. */
  onDisabled?(endpoint: WebhookEndpoint): void;
  /** Called with the account of each attempt whose outcome is written. */
  onAttempted?(accountId: AccountId): void;
  attemptMs?: number;
  pollEveryMs?: number;
  heldMax?: number;
  closeTimeoutMs?: number;
  tracing?: Tracing | null;
};

/** The keep-alive interval of event streams. */
const heartbeatMs = 15_000;
/** How often a session polls for new events: a person may be waiting for them. */
const listenEveryMs = 250;

export function createWebhooks(dependencies: WebhooksDependencies): Webhooks {
  const { database, clock, ids, random, randomBytes, masterKey, logger, presentData, baseUrl } = dependencies;
  const { allowsPrivate, attemptMs = 15_000, pollEveryMs = 100, heldMax = 400, closeTimeoutMs = 5000 } = dependencies;
  const { deliveryAttempts } = dependencies.metrics ?? createMetrics();
  const { tracing = null } = dependencies;
  const secretBox = createSecretBox(masterKey, randomBytes);
  const client = createGuardedClient({ allowsPrivate });
  const heartbeats = createHeartbeats(heartbeatMs);
  const sessionSecretKey = masterKey.derive("webhook-sessions");
  let dispatcher: Dispatcher | null = null;

  const onTrouble = (error: unknown): void => logger.warn({ error }, "webhook delivery postponed");
  const makeAccountSecret = (accountId: AccountId) => ensureAccountSecret({ database, clock, secretBox }, accountId);
  const attempts = { clock, random, client, secretBox, makeAccountSecret, presentData, attemptMs, onTrouble, tracing };
  const followed = { database, clock, ids, presentData, sessionSecretKey, pollEveryMs: listenEveryMs };

  function reportDisabled(endpoint: WebhookEndpoint): void {
    const { id, accountId, disabled } = endpoint;
    logger.warn({ endpoint_id: id, account_id: accountId, reason: disabled?.reason }, "webhook endpoint disabled");
    dependencies.onDisabled?.(endpoint);
  }

  return {
    addRoutes(v1) {
      addEndpointRoutes(v1, { database, clock, ids, secretBox, allowsPrivate, presentData, baseUrl });
      addEventRoutes(v1, { database, clock, ids, presentData });
      addSecretRoutes(v1, { database, clock, secretBox });
      addSessionRoutes(v1, {
        ...{ database, clock, ids, sessionSecretKey, heartbeats },
        follow: (session, reader) => followEvents(followed, session, reader),
      });
    },
    startDelivering() {
      dispatcher ??= startDispatcher({
        ...{ database, clock, ids, attemptMs, pollEveryMs, heldMax, closeTimeoutMs, onTrouble },
        attempt: (delivery, signal) => attemptDelivery(attempts, delivery, signal),
        onDisabled: reportDisabled,
        onWritten: (accountId) => dependencies.onAttempted?.(accountId),
        polls: createOutageLog({
          ...{ logger, clock },
          begins: "webhook polling interrupted, database unavailable",
          ends: "webhook polling resumed",
        }),
        onAttempt: ({ error, durationMs }) => deliveryAttempts.at(error ?? "succeeded").add(durationMs / 1000),
      });
    },
    pollSoon() {
      dispatcher?.pollSoon();
    },
    stopDelivering: () => dispatcher?.stop(),
    async close() {
      heartbeats.close();
      await dispatcher?.close();
      await client.close();
    },
  };
}
