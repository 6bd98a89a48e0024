import type { Duplex } from "node:stream";
import {
  type CounterRequest,
  type RequestFrame,
  type ResponseFrame,
  readJsonLines,
  writeJsonLine,
} from "./counter-protocol.ts";
import type { CounterDecision, Counters } from "./counters.ts";

type Lease = { key: string; leaseId: string };

/** Further leases expire by themselves. */
const heldMax = 100_000;

/**
 * Serves shared counters to one process. When the stream closes, the process has ended, and its leases are released so
 * that they do not block callers until they expire.
 */
export function serveCounters(counters: Counters, stream: Duplex): void {
  const held = new Map<string, Lease>();

  function trackLeases(request: CounterRequest, decision: CounterDecision | null): void {
    if (request[0] === "take" && decision?.isAllowed === true) {
      for (const { key, leaseId } of request[1].leases)
        if (held.size < heldMax) held.set(`${key} ${leaseId}`, { key, leaseId });
    }
    if (request[0] === "release") for (const { key, leaseId } of request[1]) held.delete(`${key} ${leaseId}`);
  }

  async function answer(request: CounterRequest): Promise<CounterDecision | null> {
    const decision = await execute(counters, request);
    trackLeases(request, decision);
    return decision;
  }

  // `close` follows; the supervisor handles the exit.
  stream.on("error", () => {});
  stream.on("close", () => void counters.release([...held.values()]));
  readJsonLines(stream, (value) => {
    const [number, requests] = value as RequestFrame;
    const served = Promise.all(requests.map(answer)).then((responses) => {
      const frame: ResponseFrame = [number, responses];
      writeJsonLine(stream, frame);
    });
    // After a rolling upgrade, a newer process may send unknown requests: it times out and counts alone.
    served.catch(() => {});
  });
}

async function execute(counters: Counters, request: CounterRequest): Promise<CounterDecision | null> {
  if (request[0] === "take") return await counters.take(request[1]);
  if (request[0] === "correct") await counters.correct(request[1]);
  else if (request[0] === "renew") await counters.renew(request[1]);
  else await counters.release(request[1]);
  return null;
}
