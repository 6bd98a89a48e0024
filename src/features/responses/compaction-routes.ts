import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { fieldErrors } from "../calls/index.ts";
import { getOfferedModel } from "../catalog/index.ts";
import { type ChatKinds, chatErrors } from "../chat/index.ts";
import { openHistory, openInput } from "./background-run.ts";
import { prepareCompaction } from "./compact-response.ts";
import { countInputTokens } from "./count-input-tokens.ts";
import { describeBasis } from "./quote-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import type { ResponseRequest } from "./response-request.ts";
import { compactRequestSchema, countRequestSchema } from "./response-request-schema.ts";
import { compactedSchema, inputTokensSchema } from "./response-schema.ts";

const tags = ["Responses"];
const compactPath = "/v1/responses/compact";
const countErrors = [
  ...fieldErrors,
  "not_found",
  "context_length_exceeded",
  "model_unavailable",
  "key_not_permitted",
] as const satisfies readonly ErrorCode[];

/** Counting and compacting the input of responses. */
export function addCompactionRoutes(http: HttpServer, dependencies: ResponseDependencies): void {
  addCountInputTokens(http, dependencies);
  addCompactResponse(http, dependencies);
}

function addCountInputTokens(http: HttpServer, dependencies: ResponseDependencies): void {
  const { config, schema, errors } = describeEndpoint("countInputTokens", countErrors);
  http.post(
    "/responses/input_tokens",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Count input tokens",
        description: `Counts the input tokens of a request to create a response. Free of charge. The model's vendor may count
differently; without its count you are charged by this one.`,
        tags,
        body: countRequestSchema,
        response: { 200: inputTokensSchema, ...errors },
      },
    },
    async (request) => {
      const { catalog, clock } = dependencies;
      const asked = request.body as ResponseRequest;
      const caller = getCaller(request);
      if (asked.model != null) getOfferedModel(catalog.current(), asked.model, caller, clock.now());
      const { items } = await openInput(dependencies, caller.accountId, asked);
      return { object: "response.input_tokens" as const, input_tokens: countInputTokens(asked, items) };
    },
  );
}

function addCompactResponse(http: HttpServer, dependencies: ResponseDependencies): void {
  const { config, schema, errors } = describeEndpoint("compactResponse", ["not_found", ...chatErrors]);
  http.post(
    "/responses/compact",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Compact a conversation",
        description: `Shortens a conversation: the model summarizes it. The output contains the user's messages and one \`compaction\`
item with the summary. Send the output as the start of the next \`input\`. Charged like a response.`,
        tags,
        headers: describeHeaders("idempotency-key", "x-quote-id"),
        body: compactRequestSchema,
        response: { 200: Type.Unsafe<string>(compactedSchema), ...errors },
      },
    },
    (request, reply) => compact(dependencies, request, reply),
  );
}

function compact(dependencies: ResponseDependencies, request: FastifyRequest, reply: FastifyReply): void {
  const { accountId } = getCaller(request);
  const { calls } = dependencies;
  openHistory(dependencies, accountId, request.body as ResponseRequest).then(
    (conversation) =>
      calls.answer<ChatKinds>(
        {
          path: compactPath,
          findBasis: () => describeBasis(conversation),
          prepare: (incoming) => prepareCompaction(dependencies, incoming, conversation),
        },
        request,
        reply,
      ),
    (error: unknown) => {
      const prepare = (): never => {
        throw error;
      };
      calls.answer<ChatKinds>({ path: compactPath, prepare }, request, reply);
    },
  );
}
