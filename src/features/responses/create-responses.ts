import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import type { Quotable } from "../quotes/index.ts";
import { createBackgroundResponses } from "./background-responses.ts";
import { addCompactionRoutes } from "./compaction-routes.ts";
import { addConversationRoutes } from "./conversation-routes.ts";
import { deleteExpiredConversations } from "./conversation-store.ts";
import { listQuotables } from "./quote-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { addResponseRoutes } from "./response-routes.ts";
import { deleteExpiredResponses } from "./response-store.ts";
import { createTextQuota } from "./text-quota.ts";

export type Responses = {
  addRoutes(http: HttpServer): void;
  quotables: readonly Quotable[];
  /** Deletes expired responses, and runs background responses whose process died again. */
  sweep(): Promise<void>;
  /** Hands running background responses over to other processes. */
  close(): Promise<void>;
};

const dayMs = 24 * 60 * 60 * 1000;

export function createResponses(
  options: Omit<ResponseDependencies, "retentionMs" | "quota"> & {
    textLimits: Omit<Parameters<typeof createTextQuota>[0], "clock">;
    heartbeatMs: number;
    /** How many days responses are stored. */
    days: number;
  },
): Responses {
  const { database, clock } = options;
  const quota = createTextQuota({ clock, ...options.textLimits });
  const dependencies = { ...options, quota, retentionMs: options.days * dayMs };
  const background = createBackgroundResponses(dependencies);
  const heartbeats = createHeartbeats(options.heartbeatMs);
  return {
    quotables: listQuotables(dependencies),
    addRoutes(http) {
      addResponseRoutes(http, { ...dependencies, background, heartbeats });
      addCompactionRoutes(http, dependencies);
      addConversationRoutes(http, dependencies);
    },
    async sweep() {
      await background.recover(null);
      await sweepExpiredResponses(database, clock.now());
    },
    async close() {
      heartbeats.close();
      await background.close();
    },
  };
}

const deletedAtOnceMax = 1000;

/**
 * Deletes expired responses, the last of a chain first: a response stays as long as one that continues it. Also deletes
 * expired conversations with their items.
 */
export async function sweepExpiredResponses(database: Database, now: Date): Promise<void> {
  while ((await deleteExpiredResponses(database, now, deletedAtOnceMax)) > 0);
  while ((await deleteExpiredConversations(database, now, deletedAtOnceMax)) > 0);
}
