import type { Dispatcher } from "undici";

/** Why a request came to nothing; the reason is for operators. */
export type FetchFailure = { kind: "timeout" | "unreachable" | "bad-answer"; reason: string };

export type FetchTimeouts = {
  connectMs: number;
  /** From sending a request to the first data of its answer. */
  firstByteMs: number;
  /** Between two pieces of data. */
  idleMs: number;
  /** For the whole call, from its beginning. */
  totalMs: number;
};

export type FetchRequest = {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
};

/** One request and its answer. Every function may be called at any time. */
export type FetchExchange = {
  /** Answers when the head has come; the body is read from the socket as fast as somebody takes it. */
  send(dispatcher: Dispatcher, request: FetchRequest): Promise<Response>;
  pause(): void;
  resume(): void;
  /** Closes the connection, unless the answer is complete. */
  end(): void;
};

type FetchExchangeParts = {
  timeouts: FetchTimeouts;
  onHead(status: number): void;
  onFailure(failure: FetchFailure): void;
};

const answerBytesMax = 32 * 1024 * 1024;
/** The longest answers come one token at a time, each in an envelope of some hundred bytes. */
const eventStreamBytesMax = 128 * 1024 * 1024;
/** Parsers keep a line until it ends. */
const eventLineBytesMax = 4 * 1024 * 1024;
const bufferedBytesMax = 64 * 1024;
const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

export function createFetchExchange({ timeouts, onHead, onFailure }: FetchExchangeParts): FetchExchange {
  const head = Promise.withResolvers<Response>();
  // Whoever ended the exchange may have stopped waiting for its answer.
  head.promise.catch(() => {});
  const size = createSizeCheck();
  let socket: Dispatcher.DispatchController | null = null;
  let body: ReadableStreamDefaultController<Uint8Array> | null = null;
  let connectTimer: NodeJS.Timeout | undefined;
  let silenceTimer: NodeJS.Timeout | undefined;
  let hasData = false;
  let isPaused = false;
  let isFull = false;
  let broken: FetchFailure | null = null;
  let isOver = false;

  function finish(): void {
    isOver = true;
    clearTimeout(connectTimer);
    clearTimeout(silenceTimer);
  }

  function end(): void {
    if (isOver) return;
    finish();
    const error = new DOMException("The call has ended.", "AbortError");
    head.reject(error);
    body?.error(error);
    socket?.abort(error);
  }

  function fail(failure: FetchFailure): void {
    if (isOver) return;
    onFailure(failure);
    end();
  }

  /** A connection that broke takes nothing back of what it brought: the error comes when all of it is taken. */
  function breakOff(): void {
    const isTaken = body === null || body.desiredSize === bufferedBytesMax;
    if (broken !== null && isTaken) fail(broken);
  }

  /** Silence is only the upstream's while we listen. */
  function listen(): void {
    clearTimeout(silenceTimer);
    silenceTimer = undefined;
    if (isOver || isPaused || isFull || broken !== null) {
      if (!isOver) socket?.pause();
      return;
    }
    const [reason, limitMs] = hasData ? ["idle", timeouts.idleMs] : ["first byte", timeouts.firstByteMs];
    const timer = setTimeout(() => {
      // When this process itself stood still, data may be here but not read yet: one more turn of the loop reads it.
      setImmediate(() => {
        if (timer === silenceTimer) fail({ kind: "timeout", reason });
      });
    }, limitMs);
    silenceTimer = timer;
    socket?.resume();
  }

  function openBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          body = controller;
        },
        pull() {
          isFull = false;
          if (broken === null) listen();
          else breakOff();
        },
        cancel: end,
      },
      { highWaterMark: bufferedBytesMax, size: (chunk) => chunk.byteLength },
    );
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      socket = controller;
      clearTimeout(connectTimer);
      if (isOver) controller.abort(new DOMException("The call has ended.", "AbortError"));
    },
    onResponseStart(_controller, status, headers) {
      if (isOver || status < 200) return;
      try {
        size.read(headers["content-type"]);
        const lines = Object.entries(headers).flatMap(([name, value = []]) =>
          [value].flat().map((text) => [name, text]),
        );
        const stream = bodilessStatuses.has(status) ? null : openBody();
        const response = new Response(stream, { status, headers: lines as [string, string][] });
        onHead(status);
        head.resolve(response);
      } catch (error) {
        fail({ kind: "bad-answer", reason: `Its head cannot be read: ${String(error)}` });
      }
    },
    onResponseData(_controller, chunk) {
      if (isOver) return;
      const excess = size.add(chunk);
      if (excess !== null) return fail({ kind: "bad-answer", reason: excess });
      hasData = true;
      body?.enqueue(chunk);
      isFull = (body?.desiredSize ?? 1) <= 0;
      listen();
    },
    onResponseEnd() {
      if (isOver) return;
      finish();
      body?.close();
    },
    onResponseError(_controller, error) {
      broken = { kind: "unreachable", reason: error.message };
      listen();
      breakOff();
    },
  };

  return {
    send(dispatcher, { url, method, headers, body: content }) {
      connectTimer = setTimeout(() => fail({ kind: "timeout", reason: "connect" }), timeouts.connectMs);
      listen();
      try {
        const path = `${url.pathname}${url.search}`;
        dispatcher.dispatch(
          { origin: url.origin, path, method: method as Dispatcher.HttpMethod, headers, body: content },
          handler,
        );
      } catch (error) {
        fail({ kind: "unreachable", reason: String(error) });
      }
      return head.promise;
    },
    pause() {
      isPaused = true;
      listen();
    },
    resume() {
      isPaused = false;
      listen();
    },
    end,
  };
}

/** Tells what is too large about an answer. */
function createSizeCheck() {
  let isEventStream = false;
  let bytes = 0;
  let lineBytes = 0;
  return {
    read(contentType: string | string[] | undefined): void {
      isEventStream = String(contentType).startsWith("text/event-stream");
    },
    add(chunk: Buffer): string | null {
      bytes += chunk.length;
      if (bytes > (isEventStream ? eventStreamBytesMax : answerBytesMax)) return "Its answer is too large.";
      if (!isEventStream) return null;
      const firstEnd = chunk.indexOf(0x0a);
      if (lineBytes + (firstEnd === -1 ? chunk.length : firstEnd) > eventLineBytesMax)
        return "A line of it is too long.";
      lineBytes = firstEnd === -1 ? lineBytes + chunk.length : chunk.length - 1 - chunk.lastIndexOf(0x0a);
      return null;
    },
  };
}
