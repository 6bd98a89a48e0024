import type { FastifyRequest } from "fastify";
import { getEndpoint } from "./endpoint-table.ts";

const messagesPattern = /^\/v1\/messages(?:[/?#]|$)/;

/**
 * Whether the response has Anthropic's form. The `anthropic-version` header decides for endpoints that both APIs have,
 * and for paths without an endpoint. Paths below `/v1/messages` are Anthropic's.
 */
export function isAnthropicCall(request: Pick<FastifyRequest, "routeOptions" | "headers" | "url">): boolean {
  const { routeOptions, headers, url } = request;
  const { endpoint } = routeOptions.config;
  const form = endpoint === undefined ? "if-asked" : getEndpoint(endpoint).anthropicForm;
  if (endpoint === undefined && messagesPattern.test(url)) return true;
  if (form !== "if-asked") return form === "always";
  return headers["anthropic-version"] !== undefined;
}
