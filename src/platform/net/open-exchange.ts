import type { UpstreamHeaders, UpstreamRequest } from "./upstream-call.ts";
import type { UpstreamPool } from "./upstream-pool.ts";

/** A response head. Read or drop its body. */
export type OpenAnswer = {
  status: number;
  headers: UpstreamHeaders;
  /** Call once. Stopping early ends the exchange. Yields all received data before an error. */
  read(): AsyncGenerator<Buffer, void, undefined>;
  drop(): void;
};

/** One request and its response, with back-pressure. */
export type Exchange = {
  /** Rejects with an `UpstreamError`, or with the reason of the signal. */
  head: Promise<OpenAnswer>;
  /** Time until `resume` does not count towards the idle timeout. */
  pause(): void;
  resume(): void;
  /** Closes the connection unless the response is complete. */
  end(): void;
};

type ExchangeOptions = {
  signal: AbortSignal;
  /** Called once, when the exchange has ended. */
  onOver?(): void;
};

const bufferedBytesMax = 64 * 1024;

/**
 * Sends a request on a pool and returns promises and iterators instead of callbacks. One long function: the buffer, its
 * reader and the end of the exchange are one state and can occur in any order.
 */
export function openExchange(
  pool: Pick<UpstreamPool, "dispatch">,
  request: UpstreamRequest,
  { signal, onOver = () => {} }: ExchangeOptions,
): Exchange {
  const head = Promise.withResolvers<OpenAnswer>();
  // The caller may have stopped waiting for the head.
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
    stop(new Error("The response was dropped."));
  }

  /** The idle timeout runs only while we read. */
  function updateFlow(): void {
    if (isPaused || bufferedBytes >= bufferedBytesMax) call.pause();
    else call.resume();
  }

  async function* read(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        const chunk = buffered.shift();
        if (chunk !== undefined) {
          bufferedBytes -= chunk.length;
          updateFlow();
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
      updateFlow();
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
      updateFlow();
    },
    resume() {
      isPaused = false;
      updateFlow();
    },
    end: drop,
  };
}
