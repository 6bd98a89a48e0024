import type { Readable } from "node:stream";
import type { Client, Dispatcher } from "undici";
import type { Clock } from "../../lib/clock.ts";

export type UpstreamRequest = {
  /** The default is POST. */
  method?: Dispatcher.HttpMethod;
  path: string;
  /** Alternating names and values. */
  headers: string[];
  body: string | Uint8Array | Readable | null;
  timeouts: UpstreamTimeouts;
  /**
   * The server may close an idle connection just as it is reused, and then the fate of the request is unknown. Requests
   * that must not be repeated use a fresh connection. The default is `kept`.
   */
  connection?: "kept" | "fresh";
  /** With a fresh connection: it is open. Before that the server cannot have started work. */
  onConnected?(): void;
};

export type UpstreamTimeouts = {
  connectMs: number;
  /** From sending the request to the first data of the response body. */
  firstByteMs: number;
  /** Between two chunks. Paused time does not count. */
  idleMs: number;
  totalMs: number;
};

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** At most one `onHead`, any number of `onData`, then `onEnd`; or `onError` at any point. */
export type UpstreamHandler = {
  onHead(status: number, headers: UpstreamHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: UpstreamError): void;
};

/** All methods may be called at any time, also after the end. */
export type UpstreamCall = {
  pause(): void;
  resume(): void;
  /** Discards the rest. The connection is kept if the response ends soon. */
  drain(): void;
  /** Discards the rest and closes the connection. */
  cancel(): void;
};

/** A call without a complete HTTP response. The message is for operators. */
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
  /** Called once per call, when the client is free or no longer usable. */
  onOver(isReusable: boolean): void;
};

type Phase = "connecting" | "waiting" | "reading" | "draining" | "over";

const drainMsMax = 1000;
const drainBytesMax = 64 * 1024;
/** Checks per shortest timeout: timeouts are detected late by at most this fraction. */
const checksPerTimeout = 8;

const lateFor = {
  connecting: "The connection timed out.",
  waiting: "The first byte timed out.",
  reading: "The response stalled.",
  draining: "The rest of the response timed out.",
} as const satisfies Record<Exclude<Phase, "over">, string>;

const noTimeouts: UpstreamTimeouts = { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 };
const noHandler: UpstreamHandler = { onHead() {}, onData() {}, onEnd() {}, onError() {} };

/**
 * Makes calls on one connection, one after another. Objects and the timer are reused across calls: the timer checks the
 * current call periodically instead of being reset with every chunk. A class, because closures per connection would take
 * four times the memory.
 */
export class UpstreamCaller implements Dispatcher.DispatchHandler {
  private readonly dependencies: CallerDependencies;
  private handler = noHandler;
  private timeouts = noTimeouts;
  /** Distinguishes a call from later ones on the connection. */
  private callCount = 0;
  private phase: Phase = "over";
  private isPaused = false;
  private controller: Dispatcher.DispatchController | null = null;
  private drainedBytes = 0;
  /** When the current phase began or data last arrived. */
  private sinceMs = 0;
  private endsAtMs = 0;
  /** Data arrived since then; a flag is cheaper than reading the clock per chunk. */
  private hasData = false;
  private timer: NodeJS.Timeout | null = null;
  private checksAtMs = 0;
  /** The call with a final check pending; 0 for none. */
  private finalCheck = 0;

  constructor(dependencies: CallerDependencies) {
    this.dependencies = dependencies;
  }

  /** Calls no handler before it returns. */
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
    this.resetIdle(nowMs);
    this.endsAtMs = nowMs + timeouts.totalMs;
    this.checkIn(this.checkMs(), nowMs);
    client.dispatch(
      // undici's timers are reset with every chunk and up to a second late, so ours replaces them. Not blocking: there is
      // nothing more to send when the head arrives.
      { method, path, headers, body, headersTimeout: 0, bodyTimeout: 0, blocking: false },
      this,
    );
    return new NumberedCall(this, this.callCount);
  }

  private checkIn(delayMs: number, nowMs: number): void {
    if (this.timer !== null && this.checksAtMs <= nowMs + delayMs) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.checksAtMs = nowMs + delayMs;
    this.timer = setTimeout(runCheck, delayMs, this);
    // The open connection keeps the process alive.
    this.timer.unref();
  }

  check(): void {
    const { phase, endsAtMs } = this;
    this.timer = null;
    if (phase === "over") return;
    const nowMs = this.dependencies.clock.monotonicMs();
    if (this.hasData) this.resetIdle(nowMs);
    const dueAtMs = this.isPaused ? endsAtMs : Math.min(endsAtMs, this.sinceMs + this.limitMs(phase));
    if (nowMs < dueAtMs) {
      this.finalCheck = 0;
      this.checkIn(Math.min(dueAtMs - nowMs, this.checkMs()), nowMs);
    } else if (this.finalCheck !== this.callCount) {
      // After a blocked event loop data may be unread: allow one more turn.
      this.finalCheck = this.callCount;
      setImmediate(runFinalCheck, this, this.callCount);
    } else {
      this.fail(new UpstreamError("timeout", nowMs < endsAtMs ? lateFor[phase] : "The call timed out."));
    }
  }

  private resetIdle(nowMs: number): void {
    this.hasData = false;
    this.sinceMs = nowMs;
  }

  private checkMs(): number {
    const { connectMs, firstByteMs, idleMs, totalMs } = this.timeouts;
    return Math.min(connectMs, firstByteMs, idleMs, totalMs) / checksPerTimeout;
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

  /** Ends the call, releases its references and returns its handler. */
  private leave(isReusable: boolean): UpstreamHandler {
    const leaving = this.phase === "draining" ? noHandler : this.handler;
    this.phase = "over";
    this.handler = noHandler;
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
    this.resetIdle(this.dependencies.clock.monotonicMs());
    const resumed = this.controller;
    // Not inside another call's `onData`: undici parses one connection at a time.
    queueMicrotask(() => {
      if (!this.isPaused && this.controller === resumed) resumed?.resume();
    });
  }

  drain(): void {
    if (this.phase === "draining") return;
    this.resume();
    this.phase = "draining";
    this.resetIdle(this.dependencies.clock.monotonicMs());
  }

  cancel(): void {
    this.leave(false);
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.controller = started;
    if (this.isPaused) started.pause();
    this.phase = "waiting";
    this.resetIdle(this.dependencies.clock.monotonicMs());
  }

  onResponseStart(answered: Dispatcher.DispatchController, status: number, headers: UpstreamHeaders): void {
    // They are slices of the first read and would retain it for the whole call.
    answered.rawHeaders = null;
    // Ignore informational responses (1xx).
    if (this.phase === "waiting" && status >= 200) this.handler.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.phase === "draining") {
      this.drainedBytes += chunk.length;
      if (this.drainedBytes > drainBytesMax) this.leave(false);
    } else if (this.phase !== "over") {
      this.phase = "reading";
      this.hasData = true;
      this.handler.onData(chunk);
    }
  }

  onResponseEnd(): void {
    if (this.phase !== "over") this.leave(true).onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // An invalid request fails before `start` returns.
    queueMicrotask(() => this.fail(translateError(error)));
  }
}

function runCheck(caller: UpstreamCaller): void {
  caller.check();
}

function runFinalCheck(caller: UpstreamCaller, number: number): void {
  if (!caller.isOver(number)) caller.check();
}

/** A handle for one call; ignored once the connection serves another. */
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

/** Errors of peers that do not speak valid HTTP. */
const malformedNames = new Set(["HTTPParserError", "HeadersOverflowError"]);

function translateError(error: Error & { code?: string }): UpstreamError {
  if (error.code === "UND_ERR_CONNECT_TIMEOUT") return new UpstreamError("timeout", lateFor.connecting, error);
  // A connection that closes mid-response is not malformed.
  const isMalformed = malformedNames.has(error.name) && !error.message.includes("EOF");
  if (isMalformed) return new UpstreamError("bad-answer", "The response is not valid HTTP.", error);
  return new UpstreamError("unreachable", "The connection failed.", error);
}
