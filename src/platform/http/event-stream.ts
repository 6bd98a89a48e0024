import type { ServerResponse } from "node:http";

/** A stream of server-sent events to one client. */
export type EventStream = {
  /** Writes whole events; answers whether more can be taken at once. To a client that is gone, anything can be. */
  write(events: string): boolean;
  /** Writes the last events and ends. */
  end(events: string): void;
};

export type Heartbeats = { add(stream: BeatingStream): void; remove(stream: BeatingStream): void; close(): void };
type BeatingStream = { isSilent: boolean; beat(): void };

/**
 * Lets streams that have been silent for an interval say so, by a comment that clients skip: else proxies and people take
 * them for dead. One timer serves all of them.
 */
export function createHeartbeats(intervalMs: number): Heartbeats {
  const streams = new Set<BeatingStream>();
  // A silence is noticed by the second look that finds it, so that looking twice as often is in time.
  const timer = setInterval(() => {
    for (const stream of streams) {
      if (stream.isSilent) stream.beat();
      stream.isSilent = !stream.isSilent;
    }
  }, intervalMs / 2);
  timer.unref();
  return {
    add: (stream) => void streams.add(stream),
    remove: (stream) => void streams.delete(stream),
    close: () => clearInterval(timer),
  };
}

/** What every stream of events is sent with. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // Intermediaries that buffer or compress would hold events back.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const lastChunk = "0\r\n\r\n";

/** Sends the head and begins. `onDrain` is called when a client that was too slow can take more. */
export function openEventStream(
  response: ServerResponse,
  options: { headers: Record<string, number | string | string[] | undefined>; heartbeats: Heartbeats; onDrain(): void },
): EventStream {
  const { heartbeats } = options;
  const beating: BeatingStream = {
    isSilent: false,
    beat() {
      // A client that does not read what it has need not be told that more is coming.
      if (!response.writableNeedDrain) response.write(frame(": \n\n"));
    },
  };
  let hasWritten = false;
  response.writeHead(200, { ...options.headers, ...eventStreamHeaders });
  const isChunked = response.chunkedEncoding;
  // Node would make four writes of every chunk: its length, its end and the line between as well as the data. Here each is
  // one text. A client that speaks HTTP/1.0 gets no chunks.
  response.chunkedEncoding = false;
  const frame = (events: string): string =>
    isChunked && events !== "" ? `${Buffer.byteLength(events).toString(16)}\r\n${events}\r\n` : events;
  // Events that came together with the head leave with it; a head that came alone leaves now.
  process.nextTick(() => {
    if (!hasWritten && !response.destroyed) response.flushHeaders();
  });
  response.on("drain", options.onDrain);
  response.once("close", () => heartbeats.remove(beating));
  heartbeats.add(beating);
  return {
    write(events) {
      hasWritten = true;
      beating.isSilent = false;
      return response.destroyed || response.write(frame(events));
    },
    end(events) {
      hasWritten = true;
      heartbeats.remove(beating);
      if (!response.destroyed) response.end(frame(events) + (isChunked ? lastChunk : ""));
    },
  };
}
