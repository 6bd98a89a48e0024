/** How the chunks of a stream are written; `idle` sends the first and then nothing until the client disconnects. */
export const chunkWays = ["one-write", "each-turn", "spaced", "idle"] as const;
export type ChunkWay = (typeof chunkWays)[number];

export const chunkCount = 50;
export const promptTokens = 21;

const envelope = {
  id: "chatcmpl-CbenchbenchbenchbenchbenchbenchB",
  created: 1_793_534_400,
  model: "bench-model-2026-01-01",
  service_tier: "default",
  system_fingerprint: "fp_benchbench",
};

const usage = {
  prompt_tokens: promptTokens,
  completion_tokens: chunkCount,
  total_tokens: promptTokens + chunkCount,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

export const words = Array.from({ length: chunkCount }, (_, at) => (at === 0 ? "Word" : ` word${at}`));

/** A serialized completion with its head. */
export const fixedWhole: Buffer = writeWhole();

/** A serialized stream: in one piece, and in parts. The head comes with the first chunk. */
export const fixedStream: FixedStream = writeStream();

export type FixedStream = { all: Buffer; parts: readonly Buffer[] };

function writeWhole(): Buffer {
  const message = { role: "assistant", content: words.join(""), refusal: null, annotations: [] };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  return writeJsonAnswer({ ...envelope, object: "chat.completion", choices, usage });
}

/** A serialized whole answer. */
export function writeJsonAnswer(value: object): Buffer {
  const body = JSON.stringify(value);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function writeStream(): FixedStream {
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
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return writeEventAnswer([...events, "data: [DONE]\n\n"]);
}

/** The serialized events of a stream, each in its own HTTP chunk. */
export function writeEventAnswer(events: readonly string[]): FixedStream {
  const head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
  const parts = events.map((event, at) => {
    const isLast = at === events.length - 1;
    return Buffer.from(`${at === 0 ? head : ""}${frame(event)}${isLast ? "0\r\n\r\n" : ""}`);
  });
  return { all: Buffer.concat(parts), parts };
}

/** An HTTP chunk. */
function frame(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
