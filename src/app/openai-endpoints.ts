type AbsentEndpoint = {
  /** A prefix. */
  path: string;
  /** Only this method is absent: the path has others. */
  method?: string;
  instead: string;
};

/**
 * Endpoints of OpenAI and other APIs that we do not offer, and alternatives. `docs/api/openai-clients.md` is generated
 * from this table.
 */
export const absentEndpoints: readonly AbsentEndpoint[] = [
  { path: "/v1/chat/completions/", instead: "Chat completions are not stored. Use `POST /v1/chat/completions`." },
  {
    path: "/v1/chat/completions",
    method: "GET",
    instead: "Chat completions are not stored. Use `POST /v1/chat/completions`.",
  },
  { path: "/v1/models", method: "DELETE", instead: "Models belong to this service. Use `GET /v1/models`." },
  {
    path: "/v1/messages/batches",
    instead: "Send messages one by one, each with an `Idempotency-Key`.",
  },
  { path: "/v1/assistants", instead: "Use `POST /v1/chat/completions` with `tools`." },
  { path: "/v1/threads", instead: "Send the whole conversation as `messages` to `POST /v1/chat/completions`." },
  { path: "/v1/realtime", instead: "Use `POST /v1/chat/completions` with `stream`, and `POST /v1/audio/speech`." },
  { path: "/v1/rerank", instead: "Embed query and documents with `POST /v1/embeddings`, and sort by similarity." },
  { path: "/v2/rerank", instead: "Embed query and documents with `POST /v1/embeddings`, and sort by similarity." },
  { path: "/v1/moderations", instead: "Models reject content with `content_policy_violation`, at no charge." },
  { path: "/v1/batches", instead: "Send requests one by one, each with an `Idempotency-Key`." },
  { path: "/v1/images/variations", instead: "Use `POST /v1/images/edits`, or `input_images`." },
  { path: "/v1/videos", instead: "Use `POST /v1/videos/generations`, then `GET /v1/tasks/{id}`." },
  { path: "/v1/uploads", instead: "Use `POST /v1/files` with the whole file." },
  { path: "/v1/vector_stores", instead: "File search is not supported. Put the relevant text into `messages`." },
  { path: "/v1/containers", instead: "Code execution is not supported. Use `tools` and run the code yourself." },
  { path: "/v1/fine_tuning", instead: "Fine-tuning is not supported. Use a model from `GET /v1/models`." },
  { path: "/v1/fine-tunes", instead: "Fine-tuning is not supported. Use a model from `GET /v1/models`." },
  { path: "/v1/evals", instead: "Evals are not supported. Use `POST /v1/chat/completions`." },
  { path: "/v1/engines", instead: "Use `GET /v1/models`." },
  { path: "/v1beta", instead: "Gemini's API is not supported. Use `POST /v1/chat/completions`." },
  { path: "/v1/organization", instead: "Use `GET /v1/usage` and `GET /v1/charges`, or the console." },
  { path: "/v1/dashboard", instead: "Use `GET /v1/balance` and `GET /v1/usage`." },
];

/** The alternative for a path without routes, or `null`. */
export function findSubstitute(path: string): string | null {
  return absentEndpoints.find((absent) => absent.method === undefined && isBelow(path, absent.path))?.instead ?? null;
}

/** The alternative for a method that a path does not support, or `null`. */
export function findMethodSubstitute(method: string, path: string): string | null {
  return absentEndpoints.find((absent) => absent.method === method && isBelow(path, absent.path))?.instead ?? null;
}

function isBelow(path: string, prefix: string): boolean {
  return prefix.endsWith("/") ? path.startsWith(prefix) : path === prefix || path.startsWith(`${prefix}/`);
}
