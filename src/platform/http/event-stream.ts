import type { ServerResponse } from "node:http";
import { Socket } from "node:net";

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

/**
 * Told how to end a stream, ends it with these last events as soon as its reader may not read it any more. Answers what
 * to call when it has ended otherwise.
 */
export type AccessWatch = (end: (lastEvents: string) => void) => () => void;

type EventStreamOptions = {
  /** `admitted`: an answer that was let in and is paid for goes on to its end, whatever becomes of the key. */
  access: AccessWatch | "admitted";
  headers: Record<string, number | string | string[] | undefined>;
  heartbeats: Heartbeats;
  onDrain(): void;
};

/** Sends the head and begins. `onDrain` is called when a client that was too slow can take more. */
export function openEventStream(response: ServerResponse, options: EventStreamOptions): EventStream {
  const { access, headers, heartbeats, onDrain } = options;
  response.writeHead(200, { ...headers, ...eventStreamHeaders });
  const stream = new ResponseEvents(response, heartbeats, onDrain);
  heartbeats.add(stream);
  if (access !== "admitted")
    response.once(
      "close",
      access((lastEvents) => stream.cutOff(lastEvents)),
    );
  // Events that come in the same turn as the head leave with it; a head that came alone leaves at the turn's end.
  setImmediate(sendHeadOf, stream);
  return stream;
}

function sendHeadOf(stream: ResponseEvents): void {
  stream.sendHead();
}

/** A class, because there is one for each stream, which may be open and silent for long. */
class ResponseEvents implements EventStream, BeatingStream {
  isSilent = false;
  private readonly response: ServerResponse;
  private readonly heartbeats: Heartbeats;
  private readonly onDrain: () => void;
  private readonly isChunked: boolean;
  private readonly hasBody: boolean;
  private isHeadSent = false;
  private isFull = false;

  constructor(response: ServerResponse, heartbeats: Heartbeats, onDrain: () => void) {
    this.response = response;
    this.heartbeats = heartbeats;
    this.onDrain = onDrain;
    this.isChunked = response.chunkedEncoding;
    // What is written to the connection itself, nobody else would leave out.
    this.hasBody = response.req.method !== "HEAD";
    // Node would make four writes of every chunk: its length, its end and the line between as well as the data. Here each
    // is one text. A client that speaks HTTP/1.0 gets no chunks.
    response.chunkedEncoding = false;
  }

  sendHead(): void {
    if (!this.isHeadSent && !this.response.destroyed) this.response.flushHeaders();
    this.isHeadSent = true;
  }

  write(events: string): boolean {
    this.isSilent = false;
    return this.send(this.frame(events));
  }

  beat(): void {
    if (this.response.destroyed) this.heartbeats.remove(this);
    // A client that does not read what it has need not be told that more is coming.
    else if (!this.isFull) this.send(this.frame(": \n\n"));
  }

  end(events: string): void {
    this.heartbeats.remove(this);
    const { response } = this;
    if (response.destroyed || response.writableEnded) return;
    response.end(this.hasBody ? this.frame(events) + (this.isChunked ? lastChunk : "") : "");
  }

  /** A client that does not read what it has could put the end off for ever. */
  cutOff(lastEvents: string): void {
    if (this.isFull) this.response.destroy();
    else this.end(lastEvents);
  }

  /** One chunk of HTTP. Most events are ASCII: to guess so lets V8 put the text together once, and not once to measure it. */
  private frame(events: string): string {
    if (!this.isChunked || events === "") return events;
    const guessed = wrap(events, events.length);
    const bytesMore = Buffer.byteLength(guessed) - guessed.length;
    return bytesMore === 0 ? guessed : wrap(events, events.length + bytesMore);
  }

  private send(text: string): boolean {
    const { response } = this;
    if (response.destroyed || response.writableEnded || !this.hasBody) return true;
    const outlet = findConnection(response) ?? response;
    const isFirst = !this.isHeadSent;
    if (isFirst) {
      this.isHeadSent = true;
      // Both leave in one write. Joined to a text, the head would stay in memory in all the parts that it is made of.
      outlet.cork();
      response.flushHeaders();
    }
    const canTakeMore = outlet.write(text);
    if (isFirst) outlet.uncork();
    if (!canTakeMore && !this.isFull) {
      this.isFull = true;
      outlet.once("drain", () => {
        this.isFull = false;
        this.onDrain();
      });
    }
    return canTakeMore;
  }
}

function wrap(events: string, bytes: number): string {
  return `${bytes.toString(16)}\r\n${events}\r\n`;
}

/**
 * The connection that an answer goes to. What a response does around each write, which is to gather more of them until
 * the next tick, costs as much as the write itself. One that waits for those before it on its connection has none yet,
 * and what stands in for a connection elsewhere may not be one.
 */
function findConnection({ socket }: ServerResponse): Socket | null {
  return socket instanceof Socket && socket.writable ? socket : null;
}
