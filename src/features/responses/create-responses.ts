import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { createHeartbeats } from "../../platform/http/event-stream.ts";
import type { Calls } from "../calls/index.ts";
import { createBackgroundResponses } from "./background-responses.ts";
import { addConversationRoutes } from "./conversation-routes.ts";
import type { CreateDependencies } from "./create-response.ts";
import { forgetExpiredResponses } from "./forget-expired-responses.ts";
import { addResponseRoutes } from "./response-routes.ts";
import { createTextQuota } from "./text-quota.ts";

export type Responses = {
  addRoutes(http: HttpServer): void;
  /** Removes responses whose time is over, and ends those whose process died. */
  sweep(): Promise<void>;
  close(): void;
};

type ResponsesOptions = Omit<CreateDependencies, "retentionMs" | "quota"> & {
  calls: Calls;
  textLimits: Omit<Parameters<typeof createTextQuota>[0], "clock">;
  heartbeatMs: number;
  /** For how many days a response is kept. */
  days: number;
};

const dayMs = 24 * 60 * 60 * 1000;

export function createResponses(options: ResponsesOptions): Responses {
  const { database, clock } = options;
  const quota = createTextQuota({ clock, ...options.textLimits });
  const dependencies = { ...options, quota, retentionMs: options.days * dayMs };
  const background = createBackgroundResponses(dependencies);
  const heartbeats = createHeartbeats(options.heartbeatMs);
  return {
    addRoutes(http) {
      addResponseRoutes(http, { ...dependencies, background, heartbeats });
      addConversationRoutes(http, dependencies);
    },
    async sweep() {
      await background.endAbandoned();
      await forgetExpiredResponses(database, clock.now());
    },
    close() {
      background.close();
      heartbeats.close();
    },
  };
}
