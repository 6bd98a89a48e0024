import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { GuardedClient } from "../../platform/net/guarded-client.ts";
import type { Tracing } from "../../platform/tracing/span.ts";
import type { SecretBox } from "./secret-box.ts";
import type { PresentData } from "./webhook-event.ts";

/** What the feature's operations share, built once by `createWebhooks`. */
export type WebhookDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  /** In [0, 1). */
  random(): number;
  secretBox: SecretBox;
  /** The key from which session secrets are derived. */
  sessionSecretKey: Uint8Array;
  client: Pick<GuardedClient, "post">;
  presentData: PresentData;
  /** The API's public URL. */
  baseUrl: string;
  /** For development: allows private addresses and plain HTTP. */
  allowsPrivate: boolean;
  attemptMs: number;
  /** Called for internal errors, which are retried. */
  onTrouble(error: unknown): void;
  tracing: Tracing | null;
};
