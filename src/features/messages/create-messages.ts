import type { Clock } from "../../lib/clock.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Calls } from "../calls/index.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { Chat } from "../chat/index.ts";
import { addMessageRoutes } from "./message-routes.ts";

export type Messages = { addRoutes(http: HttpServer): void };

type MessagesOptions = {
  calls: Pick<Calls, "answer">;
  chat: Pick<Chat, "plan">;
  catalog: LiveCatalog;
  clock: Clock;
};

export function createMessages({ calls, chat, catalog, clock }: MessagesOptions): Messages {
  return { addRoutes: (http) => addMessageRoutes(http, { calls, chat, catalog, clock }) };
}
