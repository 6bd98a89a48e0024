import { createParser } from "eventsource-parser";

type ServerEvent = { event: string; id: string; data: string };

/** Nothing that we are sent is longer; a stream without line ends must not fill the memory. */
const pendingCharactersMax = 16 * 1024 * 1024;

/**
 * Server-sent events as they come, whatever pieces their bytes come in. Comments, which only keep a stream alive, are left
 * out; `onBytes` is called for them too.
 */
export async function* readEventStream(
  stream: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const events: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: pendingCharactersMax,
    onEvent: ({ event = "message", id = "", data }) => events.push({ event, id, data }),
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") throw new Error("An event of the stream is too long.");
    },
  });
  // Not every browser can loop over a stream by itself.
  const reader = stream.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      onBytes();
      parser.feed(decoder.decode(piece.value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    // Who leaves the loop early ends the stream; one that broke has nothing left to be canceled.
    await reader.cancel().catch(() => {});
  }
}
