import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Calls } from "../calls/index.ts";
import type { Chat } from "../chat/index.ts";
import { addCompletionRoutes } from "./completion-routes.ts";

export type Completions = { addRoutes(http: HttpServer): void };

type CompletionsOptions = { calls: Pick<Calls, "answer">; chat: Pick<Chat, "plan"> };

export function createCompletions({ calls, chat }: CompletionsOptions): Completions {
  return { addRoutes: (http) => addCompletionRoutes(http, { calls, chat }) };
}
