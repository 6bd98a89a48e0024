import type { Clock } from "../../lib/clock.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { Calls } from "../calls/index.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import { askChat, type ChatQuestion, type ChatReply } from "./ask-chat.ts";
import { addChatRoutes } from "./chat-routes.ts";
import { createTargetTable } from "./chat-target.ts";

export type Chat = {
  addRoutes(http: HttpServer): void;
  /** Asks a model for the gateway itself; nobody is charged for it here. */
  ask(question: ChatQuestion, signal: AbortSignal): Promise<ChatReply>;
};

type ChatOptions = { calls: Calls; catalog: LiveCatalog; registry: ProviderRegistry; clock: Clock; logger: Logger };

export function createChat({ calls, catalog, registry, clock, logger }: ChatOptions): Chat {
  const listTargets = createTargetTable(registry);
  return {
    addRoutes: (http) => addChatRoutes(http, calls, { catalog, clock, listTargets }),
    ask: (question, signal) => askChat({ calls, logger, catalog, listTargets }, question, signal),
  };
}
