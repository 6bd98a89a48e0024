import { Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { compileOutlined, compileRepairing } from "../../platform/http/validation.ts";
import { callErrors, fieldErrors, type IncomingCall, quotePlan } from "../calls/index.ts";
import type { Quotable } from "../quotes/index.ts";
import { chatAnswerSchema } from "./chat-answer-schema.ts";
import { chatRequestSchema } from "./chat-request-schema.ts";
import { forwardsRequests } from "./chat-target.ts";
import { outlineChat } from "./outline-chat.ts";
import { type ChatDependencies, prepareChat } from "./prepare-chat.ts";
import { repairChatBody } from "./repair-chat-body.ts";

const description = `OpenAI's Chat Completions API. \`model\` is an \`id\` from \`GET /v1/models\`. With \`stream: true\` the response
arrives as server-sent events and ends with \`data: [DONE]\`. \`usage.charge\` is the cost of the call. With an
\`Idempotency-Key\` you can send the call again after a broken connection: it runs and is charged once.`;

/** Errors of a paid chat call, in addition to those of every endpoint. */
export const chatErrors = [
  "invalid_json",
  ...fieldErrors,
  "context_length_exceeded",
  "invalid_url",
  ...callErrors,
] as const;

export function describeChatQuotable(dependencies: ChatDependencies): Quotable {
  return {
    ...{ endpoint: "createChatCompletion", path: "/chat/completions", schema: chatRequestSchema },
    compile: compileRepairing(repairChatBody),
    quote: (asked) => quotePlan(prepareChat(dependencies, asked)),
  };
}

export function addChatRoutes(http: HttpServer, dependencies: ChatDependencies): void {
  const { config, schema, errors } = describeEndpoint("createChatCompletion", chatErrors);
  const route = {
    path: "/v1/chat/completions",
    prepare: (incoming: IncomingCall) => prepareChat(dependencies, incoming),
  };
  http.post(
    "/chat/completions",
    {
      config: {
        ...{ ...config, storesTexts: false, keepsText: true },
        outline: (bytes, limits) =>
          outlineChat(bytes, limits, (model) => forwardsRequests(dependencies, model, "chat")),
      },
      validatorCompiler: compileOutlined(compileRepairing(repairChatBody)),
      schema: {
        ...schema,
        summary: "Create a chat completion",
        description,
        tags: ["Chat"],
        headers: describeHeaders("idempotency-key", "x-quote-id"),
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: chatRequestSchema,
        response: { 200: Type.Unsafe<string>(chatAnswerSchema), ...errors },
      },
    },
    // Not `async`: a pending promise and its closure would stay in memory for the whole stream.
    (request, reply) => dependencies.calls.answer(route, request, reply),
  );
}
