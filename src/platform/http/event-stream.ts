import type { ServerResponse } from "node:http";

/** A stream of server-sent events to one client. */
export type EventStream = {
  /** Writes whole events. Returns `false` on back-pressure. Writes to a closed connection return `true`. */
  write(events: string): boolean;
  end(events: string): void;
};

export type Heartbeats = { add(stream: BeatingStream): void; remove(stream: BeatingStream): void; close(): void };
/** `place` is the stream's index among the others. */
type BeatingStream = { isSilent: boolean; place: number; beat(): void };

/**
 * Sends an SSE comment on streams that were silent for an interval, so that proxies do not close them. All streams share
 * one timer.
 */
export function createHeartbeats(intervalMs: number): Heartbeats {
  // A `Set` that changes with every stream would retain ended ones until the next major garbage collection.
  const streams: BeatingStream[] = [];
  // A stream is silent when two ticks in a row saw no write, hence the half interval.
  const timer = setInterval(() => {
    // A copy: a beat may remove its stream.
    for (const stream of streams.slice()) {
      if (stream.isSilent) stream.beat();
      stream.isSilent = !stream.isSilent;
    }
  }, intervalMs / 2);
  timer.unref();
  return {
    add(stream) {
      stream.place = streams.length;
      streams.push(stream);
    },
    remove(stream) {
      if (streams[stream.place] !== stream) return;
      const last = streams.pop();
      if (last === undefined || last === stream) return;
      streams[stream.place] = last;
      last.place = stream.place;
    },
    close: () => clearInterval(timer),
  };
}

export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies that buffer or compress would delay events.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/**
 * Watches a stream's reader and calls `end` with the last events when the reader loses access. Returns a function that
 * stops watching.
 */
export type AccessWatch = (end: (lastEvents: string) => void) => () => void;

type EventStreamOptions = {
  /** `admitted`: a paid response continues to its end even if the key is revoked. */
  access: AccessWatch | "admitted";
  headers: Record<string, number | string | string[] | undefined>;
  heartbeats: Heartbeats;
  onDrain(): void;
};

/** Sends the head. `onDrain` is called when back-pressure ends. */
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
  // Batch the head with events of the same tick; flush a head without events at the end of the tick.
  setImmediate(sendHeadOf, stream);
  return stream;
}

function sendHeadOf(stream: ResponseEvents): void {
  stream.sendHead();
}

/** A class saves memory: there is one instance per open stream. */
class ResponseEvents implements EventStream, BeatingStream {
  isSilent = false;
  place = -1;
  private readonly response: ServerResponse;
  private readonly heartbeats: Heartbeats;
  private readonly onDrain: () => void;
  private isHeadSent = false;
  private isFull = false;

  constructor(response: ServerResponse, heartbeats: Heartbeats, onDrain: () => void) {
    this.response = response;
    this.heartbeats = heartbeats;
    this.onDrain = onDrain;
  }

  sendHead(): void {
    if (!this.isHeadSent && !this.response.destroyed) this.response.flushHeaders();
    this.isHeadSent = true;
  }

  write(events: string): boolean {
    this.isSilent = false;
    return this.send(events);
  }

  beat(): void {
    if (this.response.destroyed) this.heartbeats.remove(this);
    // No heartbeat while the client does not read: it would only fill the buffer.
    else if (!this.isFull) this.send(": \n\n");
  }

  end(events: string): void {
    this.heartbeats.remove(this);
    const { response } = this;
    if (!response.destroyed && !response.writableEnded) response.end(events);
  }

  /** Under back-pressure, destroys the connection: the end might never be delivered. */
  cutOff(lastEvents: string): void {
    if (this.isFull) this.response.destroy();
    else this.end(lastEvents);
  }

  private send(text: string): boolean {
    const { response } = this;
    if (response.destroyed || response.writableEnded || text === "") return true;
    this.isHeadSent = true;
    const canTakeMore = response.write(text);
    if (!canTakeMore && !this.isFull) {
      this.isFull = true;
      response.once("drain", () => {
        this.isFull = false;
        this.onDrain();
      });
    }
    return canTakeMore;
  }
}
