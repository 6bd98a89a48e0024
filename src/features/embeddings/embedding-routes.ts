import { Type } from "typebox";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import type { Calls, IncomingCall } from "../calls/index.ts";
import { embeddingAnswerSchema, embeddingRequestSchema } from "./embedding-schema.ts";
import { type EmbeddingDirectory, prepareEmbedding } from "./prepare-embedding.ts";

const description = `Turns texts into vectors, in OpenAI's form: texts of like meaning have vectors that point the same way.
\`usage.charge\` is what the call cost. With an \`Idempotency-Key\` the call can be sent again: it is done and paid once.`;

const embeddingErrors = [
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

/** Some clients send tokens, a comma each, and up to a thousand texts of them at a time. They are parsed in some 10 ms. */
const jsonStructureMax = 400_000;

export function addEmbeddingRoutes(http: HttpServer, calls: Calls, directory: EmbeddingDirectory): void {
  const { config, schema, errors } = describeEndpoint("createEmbedding", embeddingErrors);
  const route = {
    path: "/v1/embeddings",
    prepare: (incoming: IncomingCall) => prepareEmbedding(directory, incoming),
  };
  http.post(
    "/embeddings",
    {
      config: { ...config, storesTexts: false, jsonStructureMax },
      schema: {
        ...schema,
        summary: "Create embeddings",
        description,
        tags: ["Embeddings"],
        headers: describeHeaders("idempotency-key"),
        body: embeddingRequestSchema,
        response: { 200: Type.Unsafe<string>(embeddingAnswerSchema), ...errors },
      },
    },
    (request, reply) => calls.answer(route, request, reply),
  );
}
