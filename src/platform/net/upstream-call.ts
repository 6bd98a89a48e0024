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

type CallParts = {
  client: Client;
  clock: Clock;
  /** Told once, when the client may take another call, or when it is of no more use. */
  onOver(isReusable: boolean): void;
};

type Phase = "connecting" | "waiting" | "reading" | "draining" | "over";

const drainMsMax = 1000;
const drainBytesMax = 64 * 1024;

const lateFor = {
  connecting: "No connection was made in time.",
  waiting: "No data came in time.",
  reading: "The data stopped coming.",
  draining: "The answer did not end.",
} as const satisfies Record<Exclude<Phase, "over">, string>;

/** Sends a POST on a client that serves nobody else meanwhile. The handler hears nothing before this has returned. */
export function startUpstreamCall(request: UpstreamRequest, handler: UpstreamHandler, parts: CallParts): UpstreamCall {
  const { client, clock } = parts;
  const { connectMs, firstByteMs, idleMs, totalMs } = request.timeouts;
  const limitsMs = {
    connecting: connectMs,
    waiting: firstByteMs,
    reading: idleMs,
    draining: drainMsMax,
    over: totalMs,
  };
  const shortestMs = Math.min(connectMs, firstByteMs, idleMs, totalMs);
  let phase: Phase = "connecting";
  let isPaused = false;
  let controller: Dispatcher.DispatchController | null = null;
  let drainedBytes = 0;
  /** When the connecting began, the request was sent, or the last data came. */
  let sinceMs = clock.monotonicMs();
  const endsAtMs = sinceMs + totalMs;
  // One timer that looks at most every so often, in place of one that is moved with every piece of data.
  let timer = setTimeout(checkDeadlines, shortestMs);

  function checkDeadlines(): void {
    if (phase === "over") return;
    const nowMs = clock.monotonicMs();
    const dueAtMs = isPaused ? endsAtMs : Math.min(endsAtMs, sinceMs + limitsMs[phase]);
    if (nowMs < dueAtMs) timer = setTimeout(checkDeadlines, Math.min(dueAtMs - nowMs, shortestMs));
    else fail(new UpstreamError("timeout", nowMs < endsAtMs ? lateFor[phase] : "The call took too long."));
  }

  function leave(isReusable: boolean): void {
    phase = "over";
    clearTimeout(timer);
    parts.onOver(isReusable);
  }

  function fail(error: UpstreamError): void {
    if (phase === "over") return;
    const isHeard = phase !== "draining";
    leave(false);
    if (isHeard) handler.onError(error);
  }

  function resume(): void {
    if (!isPaused) return;
    isPaused = false;
    sinceMs = clock.monotonicMs();
    // Not from within another call's data: the library reads one connection at a time.
    queueMicrotask(() => {
      if (!isPaused && phase !== "over") controller?.resume();
    });
  }

  const listener: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (isPaused) started.pause();
      phase = "waiting";
      sinceMs = clock.monotonicMs();
    },
    onResponseStart(_controller, status, headers) {
      // Before its answer a server may send any number of others with a status below 200, which only say "wait".
      if (phase === "waiting" && status >= 200) handler.onHead(status, headers);
    },
    onResponseData(_controller, chunk) {
      if (phase === "draining") {
        drainedBytes += chunk.length;
        if (drainedBytes > drainBytesMax) leave(false);
      } else if (phase !== "over") {
        phase = "reading";
        sinceMs = clock.monotonicMs();
        handler.onData(chunk);
      }
    },
    onResponseEnd() {
      if (phase === "over") return;
      const isHeard = phase !== "draining";
      leave(true);
      if (isHeard) handler.onEnd();
    },
    onResponseError(_controller, error) {
      // A request that cannot be sent at all is found out before this function has returned.
      queueMicrotask(() => fail(translateError(error)));
    },
  };
  client.dispatch(
    // The timer above keeps time; the library's own would be moved with every chunk and are a second late.
    {
      method: "POST",
      path: request.path,
      headers: request.headers,
      body: request.body,
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    listener,
  );

  return {
    pause() {
      isPaused = true;
      if (phase !== "over") controller?.pause();
    },
    resume,
    drain() {
      if (phase === "over" || phase === "draining") return;
      resume();
      phase = "draining";
      sinceMs = clock.monotonicMs();
    },
    cancel() {
      if (phase !== "over") leave(false);
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
