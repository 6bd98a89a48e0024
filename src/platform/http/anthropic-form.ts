import type { FastifyRequest } from "fastify";
import { getEndpoint } from "./endpoint-table.ts";

/** Whether the response has Anthropic's form. Endpoints that both APIs have decide by the `anthropic-version` header. */
export function isAnthropicCall({ routeOptions, headers }: Pick<FastifyRequest, "routeOptions" | "headers">): boolean {
  const { endpoint } = routeOptions.config;
  const form = endpoint === undefined ? undefined : getEndpoint(endpoint).anthropicForm;
  if (form !== "if-asked") return form === "always";
  return headers["anthropic-version"] !== undefined;
}
