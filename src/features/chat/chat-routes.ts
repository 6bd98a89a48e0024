import { Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { type Calls, callErrors, fieldErrors, type IncomingCall } from "../calls/index.ts";
import { chatAnswerSchema } from "./chat-answer-schema.ts";
import { chatRequestSchema } from "./chat-request-schema.ts";
import { type ChatDirectory, prepareChat } from "./prepare-chat.ts";

const description = `The OpenAI Chat Completions contract. \`model\` is an id from the model list. With \`stream\` the answer
comes as server-sent events and ends with \`data: [DONE]\`. \`usage.charge\` is what the call cost. With an
\`Idempotency-Key\` the call can be sent again: it is done and paid once, also when the connection breaks.`;

const chatErrors = ["invalid_json", ...fieldErrors, "context_length_exceeded", "invalid_url", ...callErrors] as const;

export function addChatRoutes(http: HttpServer, calls: Calls, directory: ChatDirectory): void {
  const { config, schema, errors } = describeEndpoint("createChatCompletion", chatErrors);
  const route = {
    path: "/v1/chat/completions",
    prepare: (incoming: IncomingCall) => prepareChat(directory, incoming),
  };
  http.post(
    "/chat/completions",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Create a chat completion",
        description,
        tags: ["Chat"],
        headers: describeHeaders("idempotency-key"),
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: chatRequestSchema,
        response: { 200: Type.Unsafe<string>(chatAnswerSchema), ...errors },
      },
    },
    // Not an `async` function, whose promise and all that waits for it would be kept for as long as a stream lasts.
    (request, reply) => calls.answer(route, request, reply),
  );
}
