import {
  chunkCount,
  type FixedStream,
  fixedStream,
  fixedWhole,
  promptTokens,
  words,
  writeEventAnswer,
  writeJsonAnswer,
} from "./fixed-answers.ts";

export type FixedWireAnswer = { whole: Buffer; stream: FixedStream };

const text = words.join("");
const model = "bench-model-2026-01-01";

/** The chat answer, with the same words, in the wire format of the request; `head` is in lower case. */
export function findWireAnswer(head: string): FixedWireAnswer {
  if (head.startsWith("post /v1/messages ")) return messages;
  return head.startsWith("post /v1/responses ") ? responses : chat;
}

const chat: FixedWireAnswer = { whole: fixedWhole, stream: fixedStream };
const messages = writeMessages();
const responses = writeResponses();

function writeMessages(): FixedWireAnswer {
  const usage = {
    ...{ input_tokens: promptTokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    ...{ output_tokens: chunkCount, service_tier: "standard" },
  };
  const message = { id: "msg_01benchbenchbenchbench", type: "message", role: "assistant", model };
  const stop = { stop_reason: "end_turn", stop_sequence: null };
  const events = [
    {
      type: "message_start",
      message: {
        ...message,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...words.map((word) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: word } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage: { output_tokens: chunkCount } },
    { type: "message_stop" },
  ];
  return {
    whole: writeJsonAnswer({ ...message, content: [{ type: "text", text }], ...stop, usage }),
    stream: writeEventAnswer(events.map(formatEvent)),
  };
}

function writeResponses(): FixedWireAnswer {
  const usage = {
    ...{ input_tokens: promptTokens, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: chunkCount, output_tokens_details: { reasoning_tokens: 0 } },
    total_tokens: promptTokens + chunkCount,
  };
  const id = "msg_benchbenchbenchbench";
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  const item = { id, type: "message", status: "completed", role: "assistant", content: [part] };
  const common = {
    ...{
      id: "resp_benchbenchbenchbench",
      object: "response",
      created_at: 1_793_534_400,
      background: false,
      error: null,
    },
    ...{ incomplete_details: null, instructions: null, max_output_tokens: null, model, parallel_tool_calls: true },
    ...{
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      service_tier: "default",
      store: false,
    },
    ...{ temperature: 1, text: { format: { type: "text" } }, tool_choice: "auto", tools: [], top_p: 1 },
    ...{ truncation: "disabled", user: null, metadata: {} },
  };
  const begun = { ...common, status: "in_progress", output: [], usage: null };
  const over = { ...common, status: "completed", output: [item], usage };
  const place = { item_id: id, output_index: 0, content_index: 0 };
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...words.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: over },
  ].map((event, number) => ({ ...event, sequence_number: number }));
  return { whole: writeJsonAnswer(over), stream: writeEventAnswer(events.map(formatEvent)) };
}

function formatEvent(event: { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
