import { Type } from "typebox";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { emptyBodySchema } from "../../platform/http/optional-body.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { getAccountSecret, rotateAccountSecret } from "./account-secret.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { accountSecretSchema, optionalBodyErrors, presentAccountSecret } from "./webhook-schema.ts";

const tags = ["Webhooks"];

export function addSecretRoutes(http: HttpServer, dependencies: WebhookDependencies): void {
  addGet(http, dependencies);
  addRotate(http, dependencies);
}

function addGet(http: HttpServer, dependencies: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("getWebhookSecret", ["unknown_parameter"]);
  http.get(
    "/webhook_secret",
    {
      config,
      schema: {
        ...schema,
        summary: "Get the account's webhook secret",
        description: "The secret that signs events to a task's `callback_url`.",
        tags,
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: accountSecretSchema, ...errors },
      },
    },
    async (request) =>
      presentAccountSecret(
        await getAccountSecret(dependencies, getCaller(request).accountId),
        dependencies.clock.now(),
      ),
  );
}

function addRotate(http: HttpServer, dependencies: WebhookDependencies): void {
  const { config, schema, errors } = describeEndpoint("rotateWebhookSecret", optionalBodyErrors);
  http.post(
    "/webhook_secret/rotate",
    {
      config,
      schema: {
        ...schema,
        summary: "Rotate the account's webhook secret",
        description: "For 24 hours the previous secret signs too, with its own signature.",
        tags,
        body: emptyBodySchema,
        response: { 200: accountSecretSchema, ...errors },
      },
    },
    async (request) =>
      presentAccountSecret(
        await rotateAccountSecret(dependencies, getCaller(request).accountId),
        dependencies.clock.now(),
      ),
  );
}
