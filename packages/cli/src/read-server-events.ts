import { createParser } from "eventsource-parser";

export type ServerEvent = { name: string; id: string | null; data: string };

const eventCharactersMax = 32 * 1024 * 1024;

/** Parses server-sent events; skips comments. */
export async function* readEvents(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const events: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: eventCharactersMax,
    onEvent: ({ event: name = "message", id = null, data }) => events.push({ name, id, data }),
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") throw new Error("The server sent an event that is too large.");
    },
  });
  for await (const chunk of body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
  }
}
