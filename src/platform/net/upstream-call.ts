import type { Readable } from "node:stream";
import type { Client, Dispatcher } from "undici";
import type { Clock } from "../../lib/clock.ts";

export type UpstreamRequest = {
  /** Absent, it is a POST. */
  method?: Dispatcher.HttpMethod;
  path: string;
  /** Names and values in turn. */
  headers: string[];
  body: string | Uint8Array | Readable | null;
  timeouts: UpstreamTimeouts;
  /**
   * A kept connection may be closed by the server at the very moment that it is used again, and nobody knows what became
   * of the request. So what must not be asked twice gets a fresh one, which serves nothing else. Absent, it is kept.
   */
  connection?: "kept" | "fresh";
  /** On a fresh connection: it is open. Until then the server cannot have begun anything. */
  onConnected?(): void;
};

export type UpstreamTimeouts = {
  connectMs: number;
  /** From sending the request to the first data of the answer's body. */
  firstByteMs: number;
  /** Between two pieces of data. Time in which nobody wants to read does not count. */
  idleMs: number;
  totalMs: number;
};

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Hears at most one `onHead`, then any number of `onData`, then `onEnd`; or `onError` in place of what is to come. */
export type UpstreamHandler = {
  onHead(status: number, headers: UpstreamHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: UpstreamError): void;
};

/** Each function may be called at any time, also when the call is long over. */
export type UpstreamCall = {
  pause(): void;
  resume(): void;
  /** Nobody wants to hear more. The connection is kept if the answer ends soon. */
  drain(): void;
  /** Nobody wants to hear more, and the connection is closed. */
  cancel(): void;
};

/** A call that got no whole answer in HTTP. Its text is for operators. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly kind: "timeout" | "unreachable" | "overloaded" | "bad-answer";

  constructor(kind: UpstreamError["kind"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

type CallerDependencies = {
  client: Client;
  clock: Clock;
  /** Told once of each call, when the client may take another, or when it is of no more use. */
  onOver(isReusable: boolean): void;
};

type Phase = "connecting" | "waiting" | "reading" | "draining" | "over";

const drainMsMax = 1000;
const drainBytesMax = 64 * 1024;
/** How often a call is looked at in the shortest of its times: by as much may silence be noticed late. */
const looksPerLimit = 8;

const lateFor = {
  connecting: "No connection was made in time.",
  waiting: "No data came in time.",
  reading: "The data stopped coming.",
  draining: "The answer did not end.",
} as const satisfies Record<Exclude<Phase, "over">, string>;

const noTimeouts: UpstreamTimeouts = { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 };
const nobody: UpstreamHandler = { onHead() {}, onData() {}, onEnd() {}, onError() {} };

/**
 * Makes calls on a client that serves nobody else, one after another. What a call needs is made once for all calls of a
 * connection, because there are many of them, and most are short. So is the timer: it looks at whatever call there is every
 * so often, in place of one that is set for every call and moved with every piece of data. A class, because there is one
 * for each connection, and with functions of its own it would be four times as large.
 */
export class UpstreamCaller implements Dispatcher.DispatchHandler {
  private readonly dependencies: CallerDependencies;
  private handler = nobody;
  private timeouts = noTimeouts;
  /** Tells a call from those after it on the same connection. */
  private callCount = 0;
  private phase: Phase = "over";
  private isPaused = false;
  private controller: Dispatcher.DispatchController | null = null;
  private drainedBytes = 0;
  /** When the connecting began, the request was sent, or data was last known to have come. */
  private sinceMs = 0;
  private endsAtMs = 0;
  /** Whether data has come since then: a flag is cheaper than the time of each piece. */
  private hasHeard = false;
  private timer: NodeJS.Timeout | null = null;
  private looksAtMs = 0;
  /** The call that is looked at once more before it is late; 0 for none. */
  private lastLook = 0;

  constructor(dependencies: CallerDependencies) {
    this.dependencies = dependencies;
  }

  /** The handler hears nothing before this has returned. */
  start(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const { client, clock } = this.dependencies;
    const { method = "POST", path, headers, body, timeouts } = request;
    this.handler = handler;
    this.timeouts = timeouts;
    this.callCount += 1;
    this.phase = "connecting";
    this.isPaused = false;
    this.drainedBytes = 0;
    const nowMs = clock.monotonicMs();
    this.hear(nowMs);
    this.endsAtMs = nowMs + timeouts.totalMs;
    this.lookIn(this.lookMs(), nowMs);
    client.dispatch(
      // The timer keeps time; the library's own would be moved with every chunk and are a second late. It need not look
      // for more to send when the head of the answer comes: there is nothing.
      { method, path, headers, body, headersTimeout: 0, bodyTimeout: 0, blocking: false },
      this,
    );
    return new NumberedCall(this, this.callCount);
  }

  private lookIn(delayMs: number, nowMs: number): void {
    if (this.timer !== null && this.looksAtMs <= nowMs + delayMs) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.looksAtMs = nowMs + delayMs;
    this.timer = setTimeout(lookAt, delayMs, this);
    // The connection keeps the process alive while somebody waits for an answer.
    this.timer.unref();
  }

  look(): void {
    const { phase, endsAtMs } = this;
    this.timer = null;
    if (phase === "over") return;
    const nowMs = this.dependencies.clock.monotonicMs();
    if (this.hasHeard) this.hear(nowMs);
    const dueAtMs = this.isPaused ? endsAtMs : Math.min(endsAtMs, this.sinceMs + this.limitMs(phase));
    if (nowMs < dueAtMs) {
      this.lastLook = 0;
      this.lookIn(Math.min(dueAtMs - nowMs, this.lookMs()), nowMs);
    } else if (this.lastLook !== this.callCount) {
      // When this process itself stood still, data may be here but not read yet: one more turn of the loop reads it.
      this.lastLook = this.callCount;
      setImmediate(lookAgainAt, this, this.callCount);
    } else {
      this.fail(new UpstreamError("timeout", nowMs < endsAtMs ? lateFor[phase] : "The call took too long."));
    }
  }

  private hear(nowMs: number): void {
    this.hasHeard = false;
    this.sinceMs = nowMs;
  }

  private lookMs(): number {
    const { connectMs, firstByteMs, idleMs, totalMs } = this.timeouts;
    return Math.min(connectMs, firstByteMs, idleMs, totalMs) / looksPerLimit;
  }

  private limitMs(phase: Exclude<Phase, "over">): number {
    switch (phase) {
      case "connecting":
        return this.timeouts.connectMs;
      case "waiting":
        return this.timeouts.firstByteMs;
      case "reading":
        return this.timeouts.idleMs;
      case "draining":
        return drainMsMax;
    }
  }

  /** Answers who was to hear of it: nothing that belongs to a call is kept beyond it. */
  private leave(isReusable: boolean): UpstreamHandler {
    const leaving = this.phase === "draining" ? nobody : this.handler;
    this.phase = "over";
    this.handler = nobody;
    this.controller = null;
    if (!isReusable && this.timer !== null) clearTimeout(this.timer);
    this.dependencies.onOver(isReusable);
    return leaving;
  }

  private fail(error: UpstreamError): void {
    if (this.phase !== "over") this.leave(false).onError(error);
  }

  isOver(number: number): boolean {
    return this.phase === "over" || number !== this.callCount;
  }

  pause(): void {
    this.isPaused = true;
    this.controller?.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.hear(this.dependencies.clock.monotonicMs());
    const resumed = this.controller;
    // Not from within another call's data: the library reads one connection at a time.
    queueMicrotask(() => {
      if (!this.isPaused && this.controller === resumed) resumed?.resume();
    });
  }

  drain(): void {
    if (this.phase === "draining") return;
    this.resume();
    this.phase = "draining";
    this.hear(this.dependencies.clock.monotonicMs());
  }

  cancel(): void {
    this.leave(false);
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.controller = started;
    if (this.isPaused) started.pause();
    this.phase = "waiting";
    this.hear(this.dependencies.clock.monotonicMs());
  }

  onResponseStart(answered: Dispatcher.DispatchController, status: number, headers: UpstreamHeaders): void {
    // They are parts of the first read, and would keep all of it in memory for as long as the call lasts.
    answered.rawHeaders = null;
    // Before its answer a server may send any number of others with a status below 200, which only say "wait".
    if (this.phase === "waiting" && status >= 200) this.handler.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.phase === "draining") {
      this.drainedBytes += chunk.length;
      if (this.drainedBytes > drainBytesMax) this.leave(false);
    } else if (this.phase !== "over") {
      this.phase = "reading";
      this.hasHeard = true;
      this.handler.onData(chunk);
    }
  }

  onResponseEnd(): void {
    if (this.phase !== "over") this.leave(true).onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // A request that cannot be sent at all is found out before `start` has returned.
    queueMicrotask(() => this.fail(translateError(error)));
  }
}

function lookAt(caller: UpstreamCaller): void {
  caller.look();
}

function lookAgainAt(caller: UpstreamCaller, number: number): void {
  if (!caller.isOver(number)) caller.look();
}

/** One call of a connection, which may serve another by the time that somebody thinks of this one again. */
class NumberedCall implements UpstreamCall {
  private readonly caller: UpstreamCaller;
  private readonly number: number;

  constructor(caller: UpstreamCaller, number: number) {
    this.caller = caller;
    this.number = number;
  }

  pause(): void {
    if (!this.caller.isOver(this.number)) this.caller.pause();
  }

  resume(): void {
    if (!this.caller.isOver(this.number)) this.caller.resume();
  }

  drain(): void {
    if (!this.caller.isOver(this.number)) this.caller.drain();
  }

  cancel(): void {
    if (!this.caller.isOver(this.number)) this.caller.cancel();
  }
}

/** Sent by whoever does not speak HTTP, or not well. */
const malformedNames = new Set(["HTTPParserError", "HeadersOverflowError"]);

function translateError(error: Error & { code?: string }): UpstreamError {
  if (error.code === "UND_ERR_CONNECT_TIMEOUT") return new UpstreamError("timeout", lateFor.connecting, error);
  // The end of the connection in the middle of an answer is no fault of its form.
  const isMalformed = malformedNames.has(error.name) && !error.message.includes("EOF");
  if (isMalformed) return new UpstreamError("bad-answer", "The answer is not HTTP.", error);
  return new UpstreamError("unreachable", "The connection failed.", error);
}
