import type { UpstreamHeaders, UpstreamRequest } from "./upstream-call.ts";
import type { UpstreamPool } from "./upstream-pool.ts";

/** The head of an answer. Its body has to be read, or to be dropped. */
export type OpenAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** Once. Who stops early ends the exchange. All that came is told before an error is. */
  read(): AsyncGenerator<Buffer, void, undefined>;
  /** Nobody wants the body, or more of it. */
  drop(): void;
};

/** One request and its answer, of which no more is taken from the network than is read. */
export type Exchange = {
  /** Rejects with an `UpstreamError`, or with the reason of the signal. */
  head: Promise<OpenAnswer>;
  /** The time until `resume` is not counted as silence. */
  pause(): void;
  resume(): void;
  /** Closes the connection, unless the answer is complete. */
  end(): void;
};

type ExchangeOptions = {
  signal: AbortSignal;
  /** Told once, when nothing more will come from the network. */
  onOver?(): void;
};

const bufferedBytesMax = 64 * 1024;

/**
 * Sends a request on a pool, for callers who wait for an answer instead of hearing of each piece. One function, though a long
 * one: the buffer, its reader and the end of the exchange are one state, and each of them may come first.
 */
export function openExchange(
  pool: Pick<UpstreamPool, "dispatch">,
  request: UpstreamRequest,
  { signal, onOver = () => {} }: ExchangeOptions,
): Exchange {
  const head = Promise.withResolvers<OpenAnswer>();
  // Who ended the exchange may have stopped waiting for its answer.
  head.promise.catch(() => {});
  const buffered: Buffer[] = [];
  let bufferedBytes = 0;
  let isPaused = false;
  let ended = null as { error: unknown } | null;
  let wakeReader = (): void => {};

  function finish(error: unknown): void {
    if (ended !== null) return;
    ended = { error };
    signal.removeEventListener("abort", abort);
    onOver();
    head.reject(error);
    wakeReader();
  }

  function stop(reason: unknown): void {
    if (ended !== null) return;
    call.cancel();
    buffered.length = 0;
    finish(reason);
  }

  function abort(): void {
    stop(signal.reason);
  }

  function drop(): void {
    stop(new Error("The answer was dropped."));
  }

  /** Silence is the upstream's only while we listen. */
  function listen(): void {
    if (isPaused || bufferedBytes >= bufferedBytesMax) call.pause();
    else call.resume();
  }

  async function* read(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        const chunk = buffered.shift();
        if (chunk !== undefined) {
          bufferedBytes -= chunk.length;
          listen();
          yield chunk;
        } else if (ended === null) {
          await new Promise<void>((resolve) => {
            wakeReader = resolve;
          });
        } else {
          if (ended.error !== null) throw ended.error;
          return;
        }
      }
    } finally {
      drop();
    }
  }

  const call = pool.dispatch(request, {
    onHead: (status, headers) => head.resolve({ status, headers, read, drop }),
    onData(chunk) {
      buffered.push(chunk);
      bufferedBytes += chunk.length;
      listen();
      wakeReader();
    },
    onEnd: () => finish(null),
    onError: finish,
  });
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });

  return {
    head: head.promise,
    pause() {
      isPaused = true;
      listen();
    },
    resume() {
      isPaused = false;
      listen();
    },
    end: drop,
  };
}
