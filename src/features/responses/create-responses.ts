import type { Clock } from "../../lib/clock.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Calls } from "../calls/index.ts";
import type { Chat } from "../chat/index.ts";
import { addResponseRoutes } from "./response-routes.ts";

export type Responses = { addRoutes(http: HttpServer): void };

type ResponsesOptions = { calls: Calls; chat: Pick<Chat, "plan">; clock: Clock };

export function createResponses(options: ResponsesOptions): Responses {
  return { addRoutes: (http) => addResponseRoutes(http, options) };
}
