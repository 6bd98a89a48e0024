import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import type { Calls, IncomingCall } from "../calls/index.ts";
import type { Chat } from "../chat/index.ts";
import { prepareResponse } from "./prepare-response.ts";
import { listOwnItems } from "./read-response-request.ts";
import type { ResponseRequest } from "./response-request.ts";
import { responseRequestSchema } from "./response-request-schema.ts";
import { responseSchema } from "./response-schema.ts";

export type ResponseRouteDependencies = { calls: Calls; chat: Pick<Chat, "plan">; clock: Clock };

const description = `OpenAI's Responses API. \`input\` is a text or items, \`model\` an id from the model list. With \`stream\` the answer
comes as server-sent events, each with its number, and ends with \`response.completed\`, \`response.incomplete\` or
\`response.failed\`. \`usage.charge\` is what the call cost. With an \`Idempotency-Key\` the call can be sent again: it is done
and paid once, also when the connection breaks.`;

/** What a response can be answered with beyond what every endpoint can. */
const createErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "unsupported_capability",
  "context_length_exceeded",
  "invalid_url",
  "content_policy_violation",
  "insufficient_balance",
  "key_budget_exceeded",
  "model_unavailable",
  "idempotency_in_progress",
  "already_completed",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
  "token_limit_exceeded",
  "concurrency_limit_exceeded",
  "upstream_unavailable",
  "upstream_timeout",
  "model_unroutable",
] as const satisfies readonly ErrorCode[];

export function addResponseRoutes(http: HttpServer, dependencies: ResponseRouteDependencies): void {
  addCreateResponse(http, dependencies);
}

function addCreateResponse(http: HttpServer, { calls, chat, clock }: ResponseRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("createResponse", createErrors);
  const route = {
    path: "/v1/responses",
    prepare: (incoming: IncomingCall) => {
      const request = incoming.body as ResponseRequest;
      refuseAbsent(request);
      const conversation = { items: listOwnItems(request), bytesBefore: 0 };
      return prepareResponse({ chat, clock }, incoming, { conversation, isStored: false }).plan;
    },
  };
  http.post(
    "/responses",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Create a response",
        description,
        tags: ["Responses"],
        headers: describeHeaders("idempotency-key"),
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: responseRequestSchema,
        response: { 200: Type.Unsafe<string>(responseSchema), ...errors },
      },
    },
    // Not an `async` function, whose promise and all that waits for it would be kept for as long as a stream lasts.
    (request, reply) => calls.answer(route, request, reply),
  );
}

function refuseAbsent(request: ResponseRequest): void {
  if (request.previous_response_id != null) {
    const message = "Responses are not stored yet: send the whole conversation as `input`.";
    throw new AppError("unsupported_capability", message, { param: "previous_response_id" });
  }
  if (request.background === true) {
    throw new AppError("unsupported_capability", "Responses are not made in the background.", { param: "background" });
  }
}
