import { Type } from "typebox";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import type { Calls, IncomingCall } from "../calls/index.ts";
import type { Chat } from "../chat/index.ts";
import { completionAnswerSchema, completionRequestSchema } from "./completion-schema.ts";
import { prepareCompletion } from "./prepare-completion.ts";

const description = `OpenAI's older API, for clients that have not moved to chat: the prompt becomes a message to a chat model.
New programs use \`POST /v1/chat/completions\`.`;

const completionErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "unsupported_capability",
  "context_length_exceeded",
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

type CompletionDependencies = { calls: Pick<Calls, "answer">; chat: Pick<Chat, "plan"> };

export function addCompletionRoutes(http: HttpServer, { calls, chat }: CompletionDependencies): void {
  const { config, schema, errors } = describeEndpoint("createCompletion", completionErrors);
  const route = {
    path: "/v1/completions",
    prepare: (incoming: IncomingCall) => prepareCompletion(chat, incoming),
  };
  http.post(
    "/completions",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Create a completion",
        description,
        tags: ["Chat"],
        headers: describeHeaders("idempotency-key"),
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: completionRequestSchema,
        response: { 200: Type.Unsafe<string>(completionAnswerSchema), ...errors },
      },
    },
    (request, reply) => calls.answer(route, request, reply),
  );
}
