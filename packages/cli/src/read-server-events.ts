import { createParser } from "eventsource-parser";

export type ServerEvent = { name: string; id: string | null; data: string };

const eventCharactersMax = 32 * 1024 * 1024;

/** Server-sent events, as they come; comments are skipped. */
export async function* readEvents(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const events: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: eventCharactersMax,
    onEvent: ({ event: name = "message", id = null, data }) => events.push({ name, id, data }),
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") throw new Error("The server sends an event without an end.");
    },
  });
  for await (const chunk of body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
  }
}
