import { Readable } from "node:stream";
import { type Client, type Dispatcher, errors, type Pool } from "undici";
import type { UpstreamHeaders } from "./upstream-call.ts";

export type ExchangeRequest = {
  method: "GET" | "POST" | "PUT";
  /** With the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | AsyncIterable<Uint8Array> | null;
  timeouts: ExchangeTimeouts;
  signal: AbortSignal;
};

export type ExchangeTimeouts = {
  /** From the request to the head of its answer. */
  headMs: number;
  /** Between two pieces of data. Time in which nobody reads does not count. */
  idleMs: number;
  totalMs: number;
};

/** The head of an answer. Its body has to be read, or to be dropped. */
export type ExchangeAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** Once. Whoever stops early ends the exchange. Throws an `ExchangeError`, or the reason of the caller's signal. */
  read(options: { bytesMax: number }): AsyncGenerator<Buffer, void, undefined>;
  /** Nobody wants the body. */
  drop(): void;
};

/** An exchange that came to no good end. Its text is for operators. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
  readonly kind: "timeout" | "unreachable" | "overloaded" | "bad-answer" | "too-large";

  constructor(kind: ExchangeError["kind"], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/**
 * Sends one request and answers when the head has come. `onOver` is told once, when the answer is read to its end or
 * nothing more will come. Throws an `ExchangeError`, or the reason of the caller's signal when that ends it.
 */
export async function openExchange(
  dispatcher: Client | Pool,
  request: ExchangeRequest,
  onOver: () => void = () => {},
): Promise<ExchangeAnswer> {
  const { method, path, headers, body: content, timeouts, signal: callerSignal } = request;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeouts.totalMs);
  const signal = AbortSignal.any([callerSignal, late.signal]);
  let isOver = false;

  function leave(): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    onOver();
  }

  function translate(error: unknown): unknown {
    if (callerSignal.aborted) return callerSignal.reason;
    return late.signal.aborted ? new ExchangeError("timeout", "The call took too long.", error) : translateError(error);
  }

  async function* read(body: Dispatcher.ResponseData["body"], bytesMax: number): AsyncGenerator<Buffer> {
    let length = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > bytesMax) throw new ExchangeError("too-large", `The answer has more than ${bytesMax} bytes.`);
        yield chunk;
      }
    } catch (error) {
      throw translate(error);
    } finally {
      leave();
    }
  }

  try {
    callerSignal.throwIfAborted();
    const {
      statusCode,
      headers: answered,
      body,
    } = await dispatcher.request({
      method,
      path,
      headers,
      body: content === null || typeof content === "string" ? content : Readable.from(content, { objectMode: false }),
      signal,
      headersTimeout: timeouts.headMs,
      bodyTimeout: timeouts.idleMs,
    });
    // An answer that nobody reads any more may still break.
    body.on("error", leave);
    return {
      status: statusCode,
      headers: answered,
      read: ({ bytesMax }) => read(body, bytesMax),
      drop() {
        body.destroy();
        leave();
      },
    };
  } catch (error) {
    leave();
    throw translate(error);
  }
}

/** All of an answer's body. */
export async function readWhole(answer: ExchangeAnswer, options: { bytesMax: number }): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(answer.read(options)));
}

function translateError(error: unknown): unknown {
  if (error instanceof ExchangeError) return error;
  if (isTimeout(error)) return new ExchangeError("timeout", "The answer did not come in time.", error);
  if (isMalformed(error)) return new ExchangeError("bad-answer", "The answer is not HTTP.", error);
  return new ExchangeError("unreachable", "The connection failed.", error);
}

function isTimeout(error: unknown): boolean {
  return (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  );
}

function isMalformed(error: unknown): boolean {
  if (error instanceof errors.HeadersOverflowError) return true;
  // The end of the connection in the middle of an answer is no fault of its form.
  return error instanceof errors.HTTPParserError && !error.message.includes("EOF");
}
