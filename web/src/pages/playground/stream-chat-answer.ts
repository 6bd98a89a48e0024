import { ApiError, api, ask } from "../../api/console-api.ts";
import { readEventStream } from "../../api/read-event-stream.ts";
import type { ChatOptions } from "./chat-settings.ts";
import type { AnswerBill, ChatMessage, ToolCall } from "./conversation.ts";

export type ChatBody = { model: string; messages: ChatMessage[] } & ChatOptions;

/** The response so far. */
export type AnswerSoFar = {
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  bill: AnswerBill | null;
  finishReason: string | null;
  isOutOfMoney: boolean;
};

type Delta = {
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
};
type Usage = { prompt_tokens: number; completion_tokens: number; charge: string };
type Choice = { delta?: Delta; message?: Delta; finish_reason?: string | null };
type Piece = { choices?: Choice[]; usage?: Usage | null; stopped_by?: string; error?: StreamError };
type StreamError = { message: string; code: string; param: string | null };

type AskOptions = {
  isStreamed: boolean;
  signal: AbortSignal;
  /** The request id, as in the list of charges. */
  onAccepted(requestId: string | null): void;
  onChange(answer: AnswerSoFar): void;
};

/**
 * Streams a response. Sends no idempotency key, so aborting the request cancels the work. Throws API errors, also those
 * in mid-stream.
 */
export async function streamChatAnswer(body: ChatBody, options: AskOptions): Promise<void> {
  const { isStreamed, signal, onAccepted, onChange } = options;
  if (!isStreamed) {
    const answer = await ask(api.POST("/chat/completions", { body, signal }));
    onChange(addPiece(emptyAnswer, answer as Piece));
    return;
  }
  const call = api.POST("/chat/completions", {
    body: { ...body, stream: true, stream_options: { include_usage: true } },
    signal,
    parseAs: "stream",
  });
  const stream = await ask(call);
  onAccepted((await call).response.headers.get("x-request-id"));
  let answer = emptyAnswer;
  let hasEnded = false;
  for await (const { data } of readEventStream(stream ?? new ReadableStream())) {
    if (data === "[DONE]") {
      hasEnded = true;
      break;
    }
    const piece = JSON.parse(data) as Piece;
    if (piece.error !== undefined) throw new ApiError({ ...piece.error, status: 200 });
    answer = addPiece(answer, piece);
    onChange(answer);
  }
  if (!hasEnded) {
    const message = "The connection closed before the response was complete.";
    throw new ApiError({ status: 0, code: "unreachable", message });
  }
}

export const emptyAnswer: AnswerSoFar = {
  text: "",
  reasoning: "",
  toolCalls: [],
  bill: null,
  finishReason: null,
  isOutOfMoney: false,
};

/** Appends a chunk; an unstreamed response is one chunk. */
export function addPiece(answer: AnswerSoFar, { choices = [], usage, stopped_by: stoppedBy }: Piece): AnswerSoFar {
  const choice = choices[0];
  const delta = choice?.delta ?? choice?.message ?? {};
  return {
    text: answer.text + (delta.content ?? "") + (delta.refusal ?? ""),
    reasoning: answer.reasoning + (delta.reasoning_content ?? ""),
    toolCalls: (delta.tool_calls ?? []).reduce(addToolCall, answer.toolCalls),
    bill:
      usage == null
        ? answer.bill
        : { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, charge: usage.charge },
    finishReason: choice?.finish_reason ?? answer.finishReason,
    isOutOfMoney: answer.isOutOfMoney || stoppedBy === "insufficient_balance",
  };
}

/** Tool calls stream too: first the name, then the arguments. */
function addToolCall(calls: ToolCall[], piece: NonNullable<Delta["tool_calls"]>[number], position: number): ToolCall[] {
  const index = piece.index ?? position;
  const known = calls[index] ?? { id: "", name: "", argumentsText: "" };
  const grown = {
    id: piece.id ?? known.id,
    name: known.name + (piece.function?.name ?? ""),
    argumentsText: known.argumentsText + (piece.function?.arguments ?? ""),
  };
  return index < calls.length ? calls.with(index, grown) : [...calls, grown];
}
