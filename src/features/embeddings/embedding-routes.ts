import { Type } from "typebox";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import {
  type CallDirectory,
  type Calls,
  callErrors,
  fieldErrors,
  type IncomingCall,
  quotePlan,
} from "../calls/index.ts";
import type { Quotable } from "../quotes/index.ts";
import { embeddingAnswerSchema, embeddingRequestSchema } from "./embedding-schema.ts";
import { prepareEmbedding } from "./prepare-embedding.ts";

export type Embeddings = { addRoutes(http: HttpServer): void; quotables: readonly Quotable[] };

const description = `Turns texts into vectors, with OpenAI's request and response format. Texts of similar meaning get vectors that
point in similar directions. \`usage.charge\` is the cost of the call. With an \`Idempotency-Key\` you can safely retry: the
call runs once and you pay once.`;

/** Clients may send up to a thousand lists of tokens, one comma per token. Parsing as many takes about 10 ms. */
const jsonStructureMax = 400_000;

export function createEmbeddings({ calls, ...directory }: CallDirectory & { calls: Calls }): Embeddings {
  const route = {
    path: "/v1/embeddings",
    prepare: (incoming: IncomingCall) => prepareEmbedding(directory, incoming),
  };
  const ownErrors = ["invalid_json", ...fieldErrors, "context_length_exceeded", ...callErrors] as const;
  const { config, schema, errors } = describeEndpoint("createEmbedding", ownErrors);
  const quotable: Quotable = {
    ...{ endpoint: "createEmbedding", path: "/embeddings", schema: embeddingRequestSchema },
    quote: (asked) => quotePlan(prepareEmbedding(directory, asked)),
  };
  return {
    quotables: [quotable],
    addRoutes(http) {
      http.post(
        "/embeddings",
        {
          config: { ...config, storesTexts: false, jsonStructureMax },
          schema: {
            ...schema,
            summary: "Create embeddings",
            description,
            tags: ["Embeddings"],
            headers: describeHeaders("idempotency-key", "x-quote-id"),
            body: embeddingRequestSchema,
            response: { 200: Type.Unsafe<string>(embeddingAnswerSchema), ...errors },
          },
        },
        (request, reply) => calls.answer(route, request, reply),
      );
    },
  };
}
