import { createParser } from "eventsource-parser";

type ServerEvent = { event: string; id: string; data: string };

/** Longer than any event we send; bounds the memory for a stream without line ends. */
const pendingCharactersMax = 16 * 1024 * 1024;

/** Parses server-sent events from chunks of any size. Comments (keep-alives) are dropped but count for `onBytes`. */
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
      if (type === "max-buffer-size-exceeded") throw new Error("A stream event is too long.");
    },
  });
  // Not every browser makes streams async-iterable.
  const reader = stream.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      onBytes();
      parser.feed(decoder.decode(piece.value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    // Leaving the loop early cancels the stream. On a broken stream, cancel has no effect.
    await reader.cancel().catch(() => {});
  }
}
