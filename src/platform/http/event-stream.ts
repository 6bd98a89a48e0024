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
    // A client that does not read what it has need not be told that more is coming.
    else if (!this.isFull) this.send(": \n\n");
  }

  end(events: string): void {
    this.heartbeats.remove(this);
    const { response } = this;
    if (!response.destroyed && !response.writableEnded) response.end(events);
  }

  /** A client that does not read what it has could put the end off for ever. */
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
