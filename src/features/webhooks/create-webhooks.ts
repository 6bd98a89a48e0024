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
  /** From now on this process sends what is due, until it is closed. */
  startDelivering(): void;
  /** Something may have been written that is to be sent; without this it is found within half a second. */
  lookSoon(): void;
  /** What is under way is sent to its end; the rest is left to other nodes. */
  stopDelivering(): void;
  close(): Promise<void>;
};

type WebhooksDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** At least 0 and less than 1. */
  random(): number;
  randomBytes: (count: number) => Uint8Array;
  masterKey: MasterKey;
  logger: Logger;
  metrics?: Pick<Metrics, "deliveryAttempts">;
  presentData: PresentData;
  /** Where callers reach the API. */
  baseUrl: string;
  /** For development: endpoints may be on this machine, and without https. */
  allowsPrivate: boolean;
  /** Tells the owner of an endpoint that it was disabled. */
  onDisabled?(endpoint: WebhookEndpoint): void;
  /** Told of the account of each attempt whose outcome is written. */
  onAttempted?(accountId: AccountId): void;
  attemptMs?: number;
  lookEveryMs?: number;
  heldMax?: number;
  closeTimeoutMs?: number;
  tracing?: Tracing | null;
};

/** After how much silence somebody who listens is told that the stream is alive. */
const heartbeatMs = 15_000;
/** How often somebody who listens is looked for news for: often enough for a person who waits for them. */
const listenEveryMs = 250;

export function createWebhooks(dependencies: WebhooksDependencies): Webhooks {
  const { database, clock, ids, random, randomBytes, masterKey, logger, presentData, baseUrl } = dependencies;
  const { allowsPrivate, attemptMs = 15_000, lookEveryMs = 100, heldMax = 400, closeTimeoutMs = 5000 } = dependencies;
  const { deliveryAttempts } = dependencies.metrics ?? createMetrics();
  const { tracing = null } = dependencies;
  const secretBox = createSecretBox(masterKey, randomBytes);
  const client = createGuardedClient({ allowsPrivate });
  const heartbeats = createHeartbeats(heartbeatMs);
  const sessionSecretKey = masterKey.derive("webhook-sessions");
  let dispatcher: Dispatcher | null = null;

  const onTrouble = (error: unknown): void => logger.warn({ error }, "webhooks wait; they are tried again");
  const makeAccountSecret = (accountId: AccountId) => ensureAccountSecret({ database, clock, secretBox }, accountId);
  const attempts = { clock, random, client, secretBox, makeAccountSecret, presentData, attemptMs, onTrouble, tracing };
  const followed = { database, clock, ids, presentData, sessionSecretKey, lookEveryMs: listenEveryMs };

  function tellDisabled(endpoint: WebhookEndpoint): void {
    const { id, accountId, disabled } = endpoint;
    logger.warn(
      { endpoint_id: id, account_id: accountId, reason: disabled?.reason },
      "a webhook endpoint was disabled",
    );
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
        ...{ database, clock, ids, attemptMs, lookEveryMs, heldMax, closeTimeoutMs, onTrouble },
        attempt: (delivery, signal) => attemptDelivery(attempts, delivery, signal),
        onDisabled: tellDisabled,
        onWritten: (accountId) => dependencies.onAttempted?.(accountId),
        looks: createOutageLog({
          ...{ logger, clock },
          begins: "webhooks wait for the database",
          ends: "webhooks are looked for again",
        }),
        onAttempt: ({ error, durationMs }) => deliveryAttempts.at(error ?? "succeeded").add(durationMs / 1000),
      });
    },
    lookSoon() {
      dispatcher?.lookSoon();
    },
    stopDelivering: () => dispatcher?.stop(),
    async close() {
      heartbeats.close();
      await dispatcher?.close();
      await client.close();
    },
  };
}
