import type { Client, Dispatcher } from "undici";
import type { Clock } from "../../lib/clock.ts";

export type UpstreamRequest = {
  path: string;
  /** Names and values in turn. */
  headers: string[];
  body: string;
  timeouts: UpstreamTimeouts;
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

/** Makes calls on a client that serves nobody else, one after another. */
export type UpstreamCaller = {
  /** Sends a POST. The handler hears nothing before this has returned. */
  start(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall;
};

type CallerParts = {
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
 * What a call needs is made once for all calls of a connection, because there are many of them, and most are short. So is
 * the timer: it looks at whatever call there is every so often, in place of one that is set for every call and moved with
 * every piece of data.
 */
export function createUpstreamCaller({ client, clock, onOver }: CallerParts): UpstreamCaller {
  let handler = nobody;
  let timeouts = noTimeouts;
  /** Tells a call from those after it on the same connection. */
  let callCount = 0;
  let phase: Phase = "over";
  let isPaused = false;
  let controller: Dispatcher.DispatchController | null = null;
  let drainedBytes = 0;
  /** When the connecting began, the request was sent, or data was last known to have come. */
  let sinceMs = 0;
  let endsAtMs = 0;
  /** Whether data has come since then: a flag is cheaper than the time of each piece. */
  let hasHeard = false;
  let timer: NodeJS.Timeout | null = null;
  let looksAtMs = 0;

  function lookIn(delayMs: number, nowMs: number): void {
    if (timer !== null && looksAtMs <= nowMs + delayMs) return;
    if (timer !== null) clearTimeout(timer);
    looksAtMs = nowMs + delayMs;
    timer = setTimeout(look, delayMs);
    // The connection keeps the process alive while somebody waits for an answer.
    timer.unref();
  }

  function look(): void {
    timer = null;
    if (phase === "over") return;
    const nowMs = clock.monotonicMs();
    if (hasHeard) hear(nowMs);
    const dueAtMs = isPaused ? endsAtMs : Math.min(endsAtMs, sinceMs + limitMs(phase));
    if (nowMs < dueAtMs) lookIn(Math.min(dueAtMs - nowMs, lookMs()), nowMs);
    else fail(new UpstreamError("timeout", nowMs < endsAtMs ? lateFor[phase] : "The call took too long."));
  }

  function hear(nowMs: number): void {
    hasHeard = false;
    sinceMs = nowMs;
  }

  function lookMs(): number {
    const { connectMs, firstByteMs, idleMs, totalMs } = timeouts;
    return Math.min(connectMs, firstByteMs, idleMs, totalMs) / looksPerLimit;
  }

  function limitMs(current: Exclude<Phase, "over">): number {
    switch (current) {
      case "connecting":
        return timeouts.connectMs;
      case "waiting":
        return timeouts.firstByteMs;
      case "reading":
        return timeouts.idleMs;
      case "draining":
        return drainMsMax;
    }
  }

  /** Answers who was to hear of it: nothing that belongs to a call is kept beyond it. */
  function leave(isReusable: boolean): UpstreamHandler {
    const leaving = phase === "draining" ? nobody : handler;
    phase = "over";
    handler = nobody;
    controller = null;
    if (!isReusable && timer !== null) clearTimeout(timer);
    onOver(isReusable);
    return leaving;
  }

  function fail(error: UpstreamError): void {
    if (phase !== "over") leave(false).onError(error);
  }

  function resume(): void {
    if (!isPaused) return;
    isPaused = false;
    hear(clock.monotonicMs());
    const resumed = controller;
    // Not from within another call's data: the library reads one connection at a time.
    queueMicrotask(() => {
      if (!isPaused && controller === resumed) resumed?.resume();
    });
  }

  const listener: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (isPaused) started.pause();
      phase = "waiting";
      hear(clock.monotonicMs());
    },
    onResponseStart(answered, status, headers) {
      // They are parts of the first read, and would keep all of it in memory for as long as the call lasts.
      answered.rawHeaders = null;
      // Before its answer a server may send any number of others with a status below 200, which only say "wait".
      if (phase === "waiting" && status >= 200) handler.onHead(status, headers);
    },
    onResponseData(_controller, chunk) {
      if (phase === "draining") {
        drainedBytes += chunk.length;
        if (drainedBytes > drainBytesMax) leave(false);
      } else if (phase !== "over") {
        phase = "reading";
        hasHeard = true;
        handler.onData(chunk);
      }
    },
    onResponseEnd() {
      if (phase !== "over") leave(true).onEnd();
    },
    onResponseError(_controller, error) {
      // A request that cannot be sent at all is found out before `start` has returned.
      queueMicrotask(() => fail(translateError(error)));
    },
  };

  return {
    start(request, next) {
      const { path, headers, body } = request;
      handler = next;
      timeouts = request.timeouts;
      callCount += 1;
      phase = "connecting";
      isPaused = false;
      drainedBytes = 0;
      const nowMs = clock.monotonicMs();
      hear(nowMs);
      endsAtMs = nowMs + timeouts.totalMs;
      lookIn(lookMs(), nowMs);
      client.dispatch(
        // The timer above keeps time; the library's own would be moved with every chunk and are a second late. It need not
        // look for more to send when the head of the answer comes: there is nothing.
        { method: "POST", path, headers, body, headersTimeout: 0, bodyTimeout: 0, blocking: false },
        listener,
      );
      const number = callCount;
      const isOver = (): boolean => phase === "over" || number !== callCount;
      return {
        pause() {
          if (isOver()) return;
          isPaused = true;
          controller?.pause();
        },
        resume() {
          if (!isOver()) resume();
        },
        drain() {
          if (isOver() || phase === "draining") return;
          resume();
          phase = "draining";
          hear(clock.monotonicMs());
        },
        cancel() {
          if (!isOver()) leave(false);
        },
      };
    },
  };
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
