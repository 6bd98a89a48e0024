import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { CallPlan } from "../calls/index.ts";
import type { Quotable } from "../quotes/index.ts";
import { askChat, type ChatQuestion, type ChatReply } from "./ask-chat.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import { addChatRoutes, describeChatQuotable } from "./chat-routes.ts";
import { createTargetTable, type ForwardedWire, forwardsRequests } from "./chat-target.ts";
import { type ChatDependencies, type ChatOrder, planChat } from "./prepare-chat.ts";

export type Chat = {
  addRoutes(http: HttpServer): void;
  quotables: readonly Quotable[];
  /** Plans a paid call for a request that arrived through another API. Throws if the request is invalid. */
  plan(order: ChatOrder): CallPlan<ChatKinds>;
  /** The input tokens that a call would be charged for, if its upstream counts them in advance; else `null`. */
  countInput(request: ChatRequest): number | null;
  /** Whether an upstream of a model gets requests of this API as their callers wrote them. */
  forwards(modelName: string, wire: ForwardedWire): boolean;
  /** Calls a model for the gateway itself, without a charge. */
  ask(question: ChatQuestion, signal: AbortSignal): Promise<ChatReply>;
};

export function createChat({
  registry,
  ...options
}: Omit<ChatDependencies, "listTargets"> & { registry: ProviderRegistry }): Chat {
  const dependencies: ChatDependencies = { ...options, listTargets: createTargetTable(registry) };
  return {
    addRoutes: (http) => addChatRoutes(http, dependencies),
    quotables: [describeChatQuotable(dependencies)],
    plan: (order) => planChat(dependencies, order),
    countInput(request) {
      const [target] = dependencies.listTargets(options.catalog.current(), request.model);
      return target?.chat.countInput?.(request) ?? null;
    },
    forwards: (modelName, wire) => forwardsRequests(dependencies, modelName, wire),
    ask: (question, signal) => askChat(dependencies, question, signal),
  };
}
