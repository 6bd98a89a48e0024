import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { createAnswerCache, describeAudience } from "./answer-cache.ts";
import { answerAnthropicDetail, answerAnthropicList } from "./anthropic-model-routes.ts";
import { getOfferedModel, listOfferedModels, type OfferedModel } from "./catalog-view.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import { ownLogos } from "./model-logos.ts";
import {
  modelDetailSchema,
  modelFilterSchema,
  modelListSchema,
  presentModelDetail,
  presentModelList,
} from "./model-schema.ts";
import { presentPriceList, priceListSchema } from "./price-schema.ts";

type ModelRouteDependencies = { catalog: LiveCatalog; clock: Clock; currency: string; siteUrl: string };

/** Responses are cached as bytes, so the schema documents them but does not serialize them. */
const jsonType = "application/json; charset=utf-8";

const noQuery = Type.Object({}, { additionalProperties: false });

export function addModelRoutes(http: HttpServer, dependencies: ModelRouteDependencies): void {
  addModelList(http, dependencies);
  addModelDetail(http, dependencies);
  addPriceList(http, dependencies);
}

function addModelList(http: HttpServer, dependencies: ModelRouteDependencies): void {
  const { catalog, clock, siteUrl } = dependencies;
  const { config, schema, errors } = describeEndpoint("listModels", ["invalid_parameter", "unknown_parameter"]);
  const answers = createAnswerCache();
  http.get(
    "/models",
    {
      config,
      preValidation: answerAnthropicList(dependencies),
      schema: {
        ...schema,
        summary: "List models",
        description: "Lists every model that your account may use. Pass an `id` from here as `model`. Filters combine.",
        tags: ["Models"],
        querystring: modelFilterSchema,
        response: { 200: Type.Unsafe<Buffer>(modelListSchema), ...errors },
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const view = catalog.current();
      const now = clock.now();
      const { type = "", capability = "", status = "" } = request.query;
      const question = `${describeAudience(view, caller)} ${type} ${capability} ${status} ${view.health.version()}`;
      reply.type(jsonType);
      return answers.get(view, question, now, () =>
        presentModelList(listOfferedModels(view, caller, now, request.query), siteUrl),
      );
    },
  );
}

function addModelDetail(http: HttpServer, dependencies: ModelRouteDependencies): void {
  const { catalog, clock, siteUrl } = dependencies;
  const { config, schema, errors } = describeEndpoint("getModel", ["model_unavailable", "unknown_parameter"]);
  http.get(
    // A model's id may contain slashes.
    "/models/*",
    {
      config,
      preValidation: answerAnthropicDetail(dependencies),
      schema: {
        ...schema,
        summary: "Get a model",
        description:
          "Returns one model with its `limits`. For a deprecated model the response has `Deprecation` and `Sunset` headers.",
        tags: ["Models"],
        params: Type.Object({
          "*": Type.String({ title: "model_id", description: "The model's id; it may contain `/`." }),
        }),
        querystring: noQuery,
        response: { 200: modelDetailSchema, ...errors },
      },
    },
    async (request, reply) => {
      const modelId = request.params["*"];
      const offered = getOfferedModel(catalog.current(), modelId, getCaller(request), clock.now());
      reply.headers(presentDeprecation(offered));
      return presentModelDetail(offered, siteUrl);
    },
  );
}

function addPriceList(http: HttpServer, { catalog, clock, currency }: ModelRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("listPrices", ["unknown_parameter"]);
  const answers = createAnswerCache();
  http.get(
    "/pricing/models",
    {
      config,
      schema: {
        ...schema,
        summary: "List prices",
        description: "Lists what each model costs your account now.",
        tags: ["Models"],
        querystring: noQuery,
        response: { 200: Type.Unsafe<Buffer>(priceListSchema), ...errors },
      },
    },
    async (request, reply) => {
      const caller = getCaller(request);
      const view = catalog.current();
      const now = clock.now();
      reply.type(jsonType);
      return answers.get(view, describeAudience(view, caller), now, () =>
        presentPriceList(view, listOfferedModels(view, caller, now), { currency, now }),
      );
    },
  );
}

/** RFC 9745 (`Deprecation`) and RFC 8594 (`Sunset`). */
export function presentDeprecation({
  status,
  model: { deprecated_at, shutdown_date },
}: OfferedModel): Record<string, string> {
  if (status !== "deprecated") return {};
  return {
    ...(deprecated_at === undefined ? {} : { deprecation: `@${Math.floor(Date.parse(deprecated_at) / 1000)}` }),
    ...(shutdown_date === undefined ? {} : { sunset: new Date(shutdown_date).toUTCString() }),
  };
}

/** Public: callers may show logos on any site. */
export function addLogoRoutes(http: HttpServer): void {
  for (const [path, image] of ownLogos) {
    http.get(path, { schema: { hide: true } }, (_request, reply) => {
      reply.headers({
        "content-type": "image/svg+xml; charset=utf-8",
        "cache-control": "public, max-age=86400",
        "cross-origin-resource-policy": "cross-origin",
        "content-security-policy": "sandbox; default-src 'none'",
      });
      return reply.send(image);
    });
  }
}
