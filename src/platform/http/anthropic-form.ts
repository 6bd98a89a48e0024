import type { FastifyRequest } from "fastify";
import { getEndpoint } from "./endpoint-table.ts";

/** Whether a request is answered in the form of Anthropic's API: on its endpoints, and where both APIs have one to those who speak it. */
export function isAnthropicCall({ routeOptions, headers }: Pick<FastifyRequest, "routeOptions" | "headers">): boolean {
  const { endpoint } = routeOptions.config;
  const form = endpoint === undefined ? undefined : getEndpoint(endpoint).anthropicForm;
  if (form !== "if-asked") return form === "always";
  return headers["anthropic-version"] !== undefined;
}
