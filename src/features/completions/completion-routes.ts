import { Type } from "typebox";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { type Calls, callErrors, fieldErrors, type IncomingCall, quotePlan } from "../calls/index.ts";
import type { Chat } from "../chat/index.ts";
import type { Quotable } from "../quotes/index.ts";
import { completionAnswerSchema, completionRequestSchema } from "./completion-schema.ts";
import { prepareCompletion } from "./prepare-completion.ts";

export type Completions = { addRoutes(http: HttpServer): void; quotables: readonly Quotable[] };

type CompletionDependencies = { calls: Pick<Calls, "answer">; chat: Pick<Chat, "plan"> };

const description = `OpenAI's legacy completions API, for clients that have not moved to chat. The gateway sends the prompt to a chat
model as a user message. For new programs, use \`POST /v1/chat/completions\`.`;

export function createCompletions({ calls, chat }: CompletionDependencies): Completions {
  const route = {
    path: "/v1/completions",
    prepare: (incoming: IncomingCall) => prepareCompletion(chat, incoming),
  };
  const ownErrors = ["invalid_json", ...fieldErrors, "context_length_exceeded", ...callErrors] as const;
  const { config, schema, errors } = describeEndpoint("createCompletion", ownErrors);
  const quotable: Quotable = {
    ...{ endpoint: "createCompletion", path: "/completions", schema: completionRequestSchema },
    quote: (asked) => quotePlan(prepareCompletion(chat, asked)),
  };
  return {
    quotables: [quotable],
    addRoutes(http) {
      http.post(
        "/completions",
        {
          config: { ...config, storesTexts: false },
          schema: {
            ...schema,
            summary: "Create a completion",
            description,
            tags: ["Chat"],
            headers: describeHeaders("idempotency-key", "x-quote-id"),
            ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
            body: completionRequestSchema,
            response: { 200: Type.Unsafe<string>(completionAnswerSchema), ...errors },
          },
        },
        (request, reply) => calls.answer(route, request, reply),
      );
    },
  };
}
