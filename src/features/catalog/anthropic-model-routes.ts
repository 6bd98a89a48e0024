import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { isAnthropicCall } from "../../platform/http/anthropic-form.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { getOfferedModel, listOfferedModels, type OfferedModel } from "./catalog-view.ts";
import type { LiveCatalog } from "./live-catalog.ts";

const jsonType = "application/json; charset=utf-8";
const limitUsual = 20;
const limitMax = 1000;

type Dependencies = { catalog: LiveCatalog; clock: Clock };

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

/** Responds to Anthropic's clients in Anthropic's format, before Fastify validates the query against our schema. */
export function answerAnthropicList({ catalog, clock }: Dependencies): Answer {
  return async (request, reply) => {
    if (!isAnthropicCall(request)) return undefined;
    const offered = listOfferedModels(catalog.current(), getCaller(request), clock.now(), { type: "chat" });
    return reply
      .type(jsonType)
      .send(JSON.stringify(presentPage(offered.map(presentModel), request.query as Record<string, unknown>)));
  };
}

export function answerAnthropicDetail({ catalog, clock }: Dependencies): Answer {
  return async (request, reply) => {
    if (!isAnthropicCall(request)) return undefined;
    const { "*": modelId = "" } = request.params as { "*"?: string };
    const offered = getOfferedModel(catalog.current(), modelId, getCaller(request), clock.now());
    return reply.type(jsonType).send(JSON.stringify(presentModel(offered)));
  };
}

type PresentedModel = ReturnType<typeof presentModel>;

function presentPage(models: readonly PresentedModel[], query: Record<string, unknown>): object {
  const { limit = limitUsual, after_id: after, before_id: before } = query;
  const count = Number(limit);
  if (!Number.isInteger(count) || count < 1 || count > limitMax) {
    throw new AppError("invalid_parameter", `\`limit\` must be a number from 1 to ${limitMax}.`, { param: "limit" });
  }
  const find = (id: unknown): number => models.findIndex((model) => model.id === id);
  // Paging backwards returns the models right before `before_id`.
  const to = before === undefined ? models.length : find(before);
  const from = before === undefined ? find(after) + 1 : Math.max(to - count, 0);
  const data = models.slice(from, before === undefined ? from + count : to);
  const hasMore = before === undefined ? from + count < models.length : from > 0;
  return { data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

/** The fields of Anthropic's model object that a catalog can fill. */
function presentModel({ model, status }: OfferedModel) {
  return {
    type: "model" as const,
    id: model.id,
    display_name: model.name,
    created_at: new Date(model.created_at).toISOString(),
    deprecated_at: status === "deprecated" ? (model.deprecated_at ?? null) : null,
    retires_at: model.shutdown_date ?? null,
    lifecycle: status === "deprecated" ? "deprecated" : "active",
    line: null,
    max_input_tokens: model.limits.context_window ?? null,
    max_tokens: model.limits.max_output_tokens ?? null,
    capabilities: null,
  };
}
