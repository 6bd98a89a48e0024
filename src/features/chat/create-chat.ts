import type { Clock } from "../../lib/clock.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { CallPlan, Calls } from "../calls/index.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import { askChat, type ChatQuestion, type ChatReply } from "./ask-chat.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import { addChatRoutes } from "./chat-routes.ts";
import { createTargetTable } from "./chat-target.ts";
import { type ChatOrder, planChat } from "./prepare-chat.ts";

export type Chat = {
  addRoutes(http: HttpServer): void;
  /** Makes a paid call of a request that came by another wire. Throws what is wrong with it. */
  plan(order: ChatOrder): CallPlan<ChatKinds>;
  /** Asks a model for the gateway itself; nobody is charged for it here. */
  ask(question: ChatQuestion, signal: AbortSignal): Promise<ChatReply>;
};

type ChatOptions = { calls: Calls; catalog: LiveCatalog; registry: ProviderRegistry; clock: Clock; logger: Logger };

export function createChat({ calls, catalog, registry, clock, logger }: ChatOptions): Chat {
  const listTargets = createTargetTable(registry);
  const directory = { catalog, clock, logger, listTargets };
  return {
    addRoutes: (http) => addChatRoutes(http, calls, directory),
    plan: (order) => planChat(directory, order),
    ask: (question, signal) => askChat({ calls, logger, catalog, listTargets }, question, signal),
  };
}
