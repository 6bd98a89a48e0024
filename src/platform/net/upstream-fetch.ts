import { setImmediate as nextTurn } from "node:timers/promises";
import { Agent } from "undici";
import { invariant } from "../../lib/invariant.ts";
import {
  createFetchExchange,
  type FetchExchange,
  type FetchFailure,
  type FetchRequest,
  type FetchTimeouts,
} from "./fetch-exchange.ts";

export type Fetch = typeof globalThis.fetch;

/** One call to an upstream. A library that speaks for us may need several requests for it, one after another. */
export type FetchCall = {
  /**
   * Behaves like the platform's, but follows no redirect, takes a text or bytes as the only body, and is stopped by the
   * call alone: a signal of its own is not listened to.
   */
  fetch: Fetch;
  /** Aborted when the call has ended, for whatever reason. */
  signal: AbortSignal;
  /** Why the call could not go on; libraries wrap such errors until they cannot be told apart. */
  readonly failure: FetchFailure | null;
  /** Stops reading from the socket. The time until `resume` is not counted as silence. */
  pause(): void;
  resume(): void;
  /** Closes the connection of a request that is still under way. */
  end(): void;
};

type FetchCallOptions = {
  timeouts: FetchTimeouts;
  /** The head of an answer has come. */
  onHead(status: number): void;
};

export type UpstreamFetch = {
  openCall(options: FetchCallOptions): FetchCall;
  /** Ends all calls and connections. */
  close(): Promise<void>;
};

/** A vendor's library may ask again on its own, for instance to continue an answer; an upstream must not keep it at it. */
const requestsMax = 8;

const longBodyCharacters = 64 * 1024;

/** Each call has its own, shorter limit; this one is for sockets that nobody waits for any more. */
const connectMsMax = 60_000;

/** To one host. A call beyond them waits for one, and that counts as connecting. */
const connectionsMaxStandard = 1024;

/** Fetches from upstreams that operators named, over connections of its own that it keeps open for the next call. */
export function createUpstreamFetch({ connectionsMax = connectionsMaxStandard } = {}): UpstreamFetch {
  const agent = new Agent({
    connections: connectionsMax,
    connect: { timeout: connectMsMax },
    // With one connection for all calls, the end of one could not be the end of its connection.
    allowH2: false,
    // Every call measures its own time, and knows when it was paused.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const calls = new Set<FetchCall>();

  function openCall({ timeouts, onHead }: FetchCallOptions): FetchCall {
    let exchange: FetchExchange | null = null;
    let requestCount = 0;
    let isPaused = false;
    let failure: FetchFailure | null = null;
    const ending = new AbortController();

    function fail(reason: FetchFailure): void {
      failure ??= reason;
      call.end();
    }

    async function fetchOnce(...[input, init]: Parameters<Fetch>): Promise<Response> {
      exchange?.end();
      ending.signal.throwIfAborted();
      requestCount += 1;
      if (requestCount > requestsMax)
        fail({ kind: "bad-answer", reason: `It takes more than ${requestsMax} requests.` });
      ending.signal.throwIfAborted();
      // Whoever wrote so much has held everybody else up, and it is about to be encoded.
      if (typeof init?.body === "string" && init.body.length > longBodyCharacters) await nextTurn();
      ending.signal.throwIfAborted();
      const next = createFetchExchange({ timeouts, onHead, onFailure: fail });
      exchange = next;
      if (isPaused) next.pause();
      return await next.send(agent, readRequest(input, init));
    }

    const totalTimer = setTimeout(() => fail({ kind: "timeout", reason: "total" }), timeouts.totalMs);
    const call: FetchCall = {
      fetch: fetchOnce,
      signal: ending.signal,
      get failure() {
        return failure;
      },
      pause() {
        isPaused = true;
        exchange?.pause();
      },
      resume() {
        isPaused = false;
        exchange?.resume();
      },
      end() {
        clearTimeout(totalTimer);
        calls.delete(call);
        exchange?.end();
        ending.abort();
      },
    };
    calls.add(call);
    return call;
  }

  return {
    openCall,
    async close() {
      for (const call of calls) call.end();
      await agent.destroy();
    },
  };
}

function readRequest(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): FetchRequest {
  invariant(typeof input === "string" || input instanceof URL, "an upstream is asked by its URL");
  const body = init?.body ?? null;
  invariant(
    body === null || typeof body === "string" || body instanceof Uint8Array,
    "a request's body is text or bytes",
  );
  const headers = new Headers(init?.headers);
  // What we pass on has to be read anyway, and nothing small can grow large in our memory.
  headers.set("accept-encoding", "identity");
  return { url: new URL(input), method: init?.method ?? "GET", headers: Object.fromEntries(headers), body };
}
