import type { AccountId } from "../../lib/ids.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import { createGuardedClient } from "../../platform/net/guarded-client.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { createMetrics, type Metrics } from "../../platform/observability/metrics.ts";
import { createOutageLog } from "../../platform/observability/outage-log.ts";
import { createSecretBox } from "./secret-box.ts";
import { type Dispatcher, startDispatcher } from "./start-dispatcher.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";
import { addEndpointRoutes } from "./webhook-endpoint-routes.ts";
import { addEventRoutes } from "./webhook-event-routes.ts";
import { addSecretRoutes } from "./webhook-secret-routes.ts";
import { addSessionRoutes } from "./webhook-session-routes.ts";

export type Webhooks = {
  addRoutes(v1: HttpServer): void;
  /** Starts sending due deliveries in this process. */
  startDelivering(): void;
  /** Hints that a delivery may be due; without it, polling finds it within two seconds. */
  pollSoon(): void;
  /** Lets running attempts finish, and leaves the rest to other nodes. */
  stopDelivering(): void;
  close(): Promise<void>;
};

type GivenDependencies = Pick<
  WebhookDependencies,
  "database" | "clock" | "ids" | "random" | "presentData" | "baseUrl" | "allowsPrivate"
> & {
  randomBytes: (count: number) => Uint8Array;
  masterKey: MasterKey;
  logger: Logger;
  metrics?: Pick<Metrics, "deliveryAttempts">;
  /** Notifies the owner of a disabled endpoint. */
  onDisabled?(endpoint: WebhookEndpoint): void;
  /** Called with the account of each attempt whose outcome is written. */
  onAttempted?(accountId: AccountId): void;
  attemptMs?: number;
  pollEveryMs?: number;
  heldMax?: number;
  closeTimeoutMs?: number;
  tracing?: WebhookDependencies["tracing"];
};

/** The keep-alive interval of event streams. */
const heartbeatMs = 15_000;

export function createWebhooks(given: GivenDependencies): Webhooks {
  const { database, clock, ids, random, randomBytes, masterKey, logger, presentData, baseUrl } = given;
  const { allowsPrivate, attemptMs = 15_000, pollEveryMs = 100, heldMax = 400, closeTimeoutMs = 5000 } = given;
  const { deliveryAttempts } = given.metrics ?? createMetrics();
  const client = createGuardedClient({ allowsPrivate });
  const heartbeats = createHeartbeats(heartbeatMs);
  const dependencies: WebhookDependencies = {
    ...{ database, clock, ids, random, client, presentData, baseUrl, allowsPrivate, attemptMs },
    secretBox: createSecretBox(masterKey, randomBytes),
    sessionSecretKey: masterKey.derive("webhook-sessions"),
    onTrouble: (error) => logger.warn({ error }, "webhook delivery postponed"),
    tracing: given.tracing ?? null,
  };
  let dispatcher: Dispatcher | null = null;

  function reportDisabled(endpoint: WebhookEndpoint): void {
    const { id, accountId, disabled } = endpoint;
    logger.warn({ endpoint_id: id, account_id: accountId, reason: disabled?.reason }, "webhook endpoint disabled");
    given.onDisabled?.(endpoint);
  }

  return {
    addRoutes(v1) {
      addEndpointRoutes(v1, dependencies);
      addEventRoutes(v1, dependencies);
      addSecretRoutes(v1, dependencies);
      addSessionRoutes(v1, { ...dependencies, heartbeats });
    },
    startDelivering() {
      dispatcher ??= startDispatcher({
        ...{ ...dependencies, pollEveryMs, heldMax, closeTimeoutMs },
        onDisabled: reportDisabled,
        onWritten: (accountId) => given.onAttempted?.(accountId),
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
