import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { MasterKey } from "../../platform/config/master-key.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import { createGuardedClient } from "../../platform/net/guarded-client.ts";
import type { ConnectionGuard } from "../../platform/net/guarded-connector.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { ensureAccountSecret } from "./account-secret.ts";
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
  close(): Promise<void>;
};

export type WebhookParts = ConnectionGuard & {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** At least 0 and less than 1. */
  random(): number;
  randomBytes: (count: number) => Uint8Array;
  masterKey: MasterKey;
  logger: Logger;
  presentData: PresentData;
  /** Where callers reach the API. */
  baseUrl: string;
  /** Tells the owner of an endpoint that it was disabled. */
  onDisabled?(endpoint: WebhookEndpoint): void;
  attemptMs?: number;
  lookEveryMs?: number;
  heldMax?: number;
  closeTimeoutMs?: number;
  /** After how much silence somebody who listens is told that the stream is alive. */
  heartbeatMs?: number;
};

const attemptMsUsual = 15_000;
const lookEveryMsUsual = 100;
const heldMaxUsual = 400;
const closeTimeoutMsUsual = 5000;
const heartbeatMsUsual = 15_000;
/** How often somebody who listens is looked for news for: often enough for a person who waits for them. */
const listenEveryMs = 250;

export function createWebhooks(parts: WebhookParts): Webhooks {
  const { logger } = parts;
  const secretBox = createSecretBox(parts.masterKey, parts.randomBytes);
  const client = createGuardedClient(parts);
  const common = { ...parts, secretBox };
  const heartbeats = createHeartbeats(parts.heartbeatMs ?? heartbeatMsUsual);
  const sessionSecretKey = parts.masterKey.derive("webhook-sessions");
  let dispatcher: Dispatcher | null = null;

  function tellDisabled(endpoint: WebhookEndpoint): void {
    const { id, accountId, disabled } = endpoint;
    logger.warn(
      { endpoint_id: id, account_id: accountId, reason: disabled?.reason },
      "a webhook endpoint was disabled",
    );
    parts.onDisabled?.(endpoint);
  }

  return {
    addRoutes(v1) {
      addEndpointRoutes(v1, common);
      addEventRoutes(v1, common);
      addSecretRoutes(v1, common);
      addSessionRoutes(v1, { ...common, heartbeats, sessionSecretKey, lookEveryMs: listenEveryMs });
    },
    startDelivering() {
      dispatcher ??= startDispatcher({
        ...common,
        client,
        makeAccountSecret: (accountId) => ensureAccountSecret(common, accountId),
        attemptMs: parts.attemptMs ?? attemptMsUsual,
        lookEveryMs: parts.lookEveryMs ?? lookEveryMsUsual,
        heldMax: parts.heldMax ?? heldMaxUsual,
        closeTimeoutMs: parts.closeTimeoutMs ?? closeTimeoutMsUsual,
        onDisabled: tellDisabled,
        onTrouble: (error) => logger.warn({ error }, "webhooks wait; they are tried again"),
      });
    },
    lookSoon() {
      dispatcher?.lookSoon();
    },
    async close() {
      heartbeats.close();
      await dispatcher?.close();
      await client.close();
    },
  };
}
