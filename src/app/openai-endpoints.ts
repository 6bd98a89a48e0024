/**
 * OpenAI's endpoints, and those of others that clients may be set to, which are not here: the beginning of the path, and
 * what to use instead. `docs/api/openai-clients.md` is written from this table.
 */
export const absentEndpoints: readonly { path: string; instead: string }[] = [
  { path: "/v1/chat/completions/", instead: "Answers are not stored. Use `POST /v1/chat/completions`." },
  {
    path: "/v1/messages/batches",
    instead: "Send messages one by one, each with an `Idempotency-Key`.",
  },
  { path: "/v1/assistants", instead: "Use `POST /v1/chat/completions` with `tools`." },
  { path: "/v1/threads", instead: "Send the whole conversation as `messages` to `POST /v1/chat/completions`." },
  { path: "/v1/realtime", instead: "Use `POST /v1/chat/completions` with `stream`, and `POST /v1/audio/speech`." },
  { path: "/v1/rerank", instead: "Embed query and documents with `POST /v1/embeddings`, and sort by their nearness." },
  { path: "/v2/rerank", instead: "Embed query and documents with `POST /v1/embeddings`, and sort by their nearness." },
  { path: "/v1/moderations", instead: "Models refuse by themselves, with `content_policy_violation`, at no charge." },
  { path: "/v1/batches", instead: "Send requests one by one, each with an `Idempotency-Key`." },
  { path: "/v1/images/variations", instead: "Use `POST /v1/images/edits`, or `input_images`." },
  { path: "/v1/videos", instead: "Use `POST /v1/videos/generations`, then `GET /v1/tasks/{id}`." },
  { path: "/v1/uploads", instead: "Use `POST /v1/files`, which takes a file at once." },
  { path: "/v1/vector_stores", instead: "Files are not searched here. Put what matters into `messages`." },
  { path: "/v1/containers", instead: "Code is not run here. Use `tools`, and run it yourself." },
  { path: "/v1/fine_tuning", instead: "Models are not trained here; `GET /v1/models` lists what there is." },
  { path: "/v1/fine-tunes", instead: "Models are not trained here; `GET /v1/models` lists what there is." },
  { path: "/v1/evals", instead: "Models are not judged here. Use `POST /v1/chat/completions`." },
  { path: "/v1/engines", instead: "Use `GET /v1/models`." },
  { path: "/v1beta", instead: "Gemini's own API is not here. Use `POST /v1/chat/completions`." },
  { path: "/v1/organization", instead: "Use `GET /v1/usage` and `GET /v1/charges`, or the console." },
  { path: "/v1/dashboard", instead: "Use `GET /v1/balance` and `GET /v1/usage`." },
];

/** What to use instead of what a path asks for; `null` where nobody would expect it here. */
export function findSubstitute(path: string): string | null {
  const found = absentEndpoints.find(({ path: known }) =>
    known.endsWith("/") ? path.startsWith(known) : path === known || path.startsWith(`${known}/`),
  );
  return found?.instead ?? null;
}
