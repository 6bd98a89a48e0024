import type { Duplex } from "node:stream";
import { createCoalescer } from "../../lib/coalescer.ts";
import { invariant } from "../../lib/invariant.ts";
import {
  type CounterRequest,
  type RequestFrame,
  type ResponseFrame,
  readJsonLines,
  writeJsonLine,
} from "./counter-protocol.ts";
import type { CounterDecision, Counters } from "./counters.ts";

type RemoteCountersOptions = {
  /** To the process that runs `serveCounters`. */
  stream: Duplex;
  /** Deadline of a batch. */
  timeoutMs?: number;
};

const defaultTimeoutMs = 1000;
const batchMax = 1000;
const waitingMax = 100_000;

type Responses = ResponseFrame[1];

/**
 * The counters of another process on this machine. Requests are coalesced: one batch is in flight, and new requests form
 * the next one. Throws on a timeout.
 */
export function createRemoteCounters({ stream, timeoutMs = defaultTimeoutMs }: RemoteCountersOptions): Counters {
  let lastNumber = 0;
  let waiting: { number: number; resolve(responses: Responses): void; reject(error: Error): void } | null = null;

  function failWaiting(): void {
    waiting?.reject(new Error("the connection to the counters was closed"));
  }

  readJsonLines(stream, (value) => {
    const [number, responses] = value as ResponseFrame;
    // Ignore late responses to a batch that timed out.
    if (number === waiting?.number) waiting.resolve(responses);
  });
  stream.on("error", failWaiting).on("close", failWaiting);

  function send(requests: readonly CounterRequest[]): Promise<Responses> {
    const { promise, resolve, reject } = Promise.withResolvers<Responses>();
    lastNumber += 1;
    const number = lastNumber;
    waiting = { number, resolve, reject };
    // After a blocked event loop the response may be unread: allow one more turn.
    const timer = setTimeout(
      () => setImmediate(() => reject(new Error(`no response within ${timeoutMs} ms`))),
      timeoutMs,
    );
    if (stream.destroyed) failWaiting();
    const frame: RequestFrame = [number, requests];
    writeJsonLine(stream, frame);
    return promise.finally(() => clearTimeout(timer));
  }

  const requests = createCoalescer<CounterRequest, CounterDecision | null>({
    run: send,
    batchMax,
    waitingMax,
  });

  return {
    async take(checks) {
      const decision = await requests.submit(["take", checks]);
      invariant(decision !== null, "take must return a decision");
      return decision;
    },
    correct: async (rate) => void (await requests.submit(["correct", rate])),
    renew: async (lease) => void (await requests.submit(["renew", lease])),
    release: async (leases) => void (await requests.submit(["release", leases])),
    async close() {
      await requests.close();
      stream.destroy();
    },
  };
}
