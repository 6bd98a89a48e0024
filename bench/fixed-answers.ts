/** How the chunks of a stream are written; `idle` sends the first and then nothing until the client goes. */
export const chunkWays = ["one-write", "each-turn", "spaced", "idle"] as const;
export type ChunkWay = (typeof chunkWays)[number];

const chunkCount = 50;

const envelope = {
  id: "chatcmpl-CbenchbenchbenchbenchbenchbenchB",
  created: 1_793_534_400,
  model: "bench-model-2026-01-01",
  service_tier: "default",
  system_fingerprint: "fp_benchbench",
};

const usage = {
  prompt_tokens: 21,
  completion_tokens: chunkCount,
  total_tokens: 21 + chunkCount,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

const words = Array.from({ length: chunkCount }, (_, at) => (at === 0 ? "Word" : ` word${at}`));

/** A completion with its head, ready for the socket. */
export const fixedWhole: Buffer = writeWhole();

/** A stream ready for the socket: at one go, and in parts. The head comes with the first chunk. */
export const fixedStream: { all: Buffer; parts: readonly Buffer[] } = writeStream();

function writeWhole(): Buffer {
  const message = { role: "assistant", content: words.join(""), refusal: null, annotations: [] };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  const body = JSON.stringify({ ...envelope, object: "chat.completion", choices, usage });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function writeStream(): { all: Buffer; parts: readonly Buffer[] } {
  const head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
  const chunk = (delta: object, finishReason: string | null = null) => ({
    ...envelope,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
  });
  const events = [
    ...words.map((word, at) => chunk(at === 0 ? { role: "assistant", content: word } : { content: word })),
    chunk({}, "stop"),
    { ...envelope, object: "chat.completion.chunk", choices: [], usage },
  ].map((event) => frame(`data: ${JSON.stringify(event)}\n\n`));
  const [first = "", ...rest] = [...events, `${frame("data: [DONE]\n\n")}0\r\n\r\n`];
  const parts = [head + first, ...rest].map((part) => Buffer.from(part));
  return { all: Buffer.concat(parts), parts };
}

/** An HTTP chunk. */
function frame(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
