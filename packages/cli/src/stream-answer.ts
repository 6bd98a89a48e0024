import type { ApiClient } from "./api-client.ts";
import { readApiError } from "./api-error.ts";
import { readEvents } from "./read-server-events.ts";

export type ChatMessage = { role: "system" | "user" | "assistant"; content: string };

export type ChatAsk = {
  model: string;
  messages: readonly ChatMessage[];
  temperature?: number;
  max_completion_tokens?: number;
};

export type ChatAnswer = {
  model: string;
  content: string;
  finish_reason: string | null;
  /** Why the server stopped the answer early. */
  stopped_by: string | null;
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number; charge?: string } | null;
};

type Chunk = {
  choices?: { delta?: { content?: string | null }; finish_reason?: string | null }[];
  usage?: ChatAnswer["usage"];
  stopped_by?: string;
  error?: unknown;
};

/** Streams an answer. No idempotency key: with one, the server would continue and charge after a disconnect. */
export async function streamAnswer(
  api: ApiClient,
  ask: ChatAsk,
  { onText, signal }: { onText(piece: string): void; signal: AbortSignal },
): Promise<ChatAnswer> {
  const response = await api.open({
    method: "POST",
    path: "/chat/completions",
    json: { ...ask, stream: true, stream_options: { include_usage: true } },
    timeoutMs: 10 * 60_000,
    signal,
  });
  const answer: ChatAnswer = { model: ask.model, content: "", finish_reason: null, stopped_by: null, usage: null };
  for await (const { data } of readEvents(response.body)) {
    if (data === "[DONE]") return answer;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error !== undefined) throw readApiError(502, data, response.headers.get("x-request-id"));
    const [choice] = chunk.choices ?? [];
    const piece = choice?.delta?.content ?? "";
    if (piece !== "") onText(piece);
    answer.content += piece;
    answer.finish_reason = choice?.finish_reason ?? answer.finish_reason;
    answer.stopped_by = chunk.stopped_by ?? answer.stopped_by;
    answer.usage = chunk.usage ?? answer.usage;
  }
  throw readApiError(502, JSON.stringify({ error: { message: "Lost the connection.", code: "broken_stream" } }), null);
}
