import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fixedStream } from "./fixed-answers.ts";
import { openLoadConnection, requireWhole } from "./load-connection.ts";
import { findMedian } from "./measure-cpu.ts";
import { readResidentBytes } from "./process-figures.ts";

/** The serialized requests of each kind of caller. */
export type MixedRequests = { whole: Buffer; streamed: Buffer; abandoned: Buffer; broken: Buffer; rerouted: Buffer };
export type MixedCounts = Record<keyof MixedRequests, number>;

const callers: Record<keyof MixedRequests, number> = { whole: 16, streamed: 8, abandoned: 4, broken: 2, rerouted: 2 };
const sampleEveryMs = 2000;
const printEverySamples = 5;
const growthMax = 1.1;
const growthBytesMax = 20 * 1024 * 1024;

/** An upstream that breaks every stream off after its first chunks. */
export async function startBreakingUpstream(): Promise<{ port: number; close(): void }> {
  const beginning = Buffer.concat(fixedStream.parts.slice(0, 5));
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.end(beginning));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

/** Keeps all kinds of callers busy for the time, and returns the gateway's memory over time. */
export async function runMixedLoad(
  gateway: { port: number; processId: number },
  requests: MixedRequests,
  lastsMs: number,
): Promise<{ counts: MixedCounts; residentBytes: number[] }> {
  const counts: MixedCounts = { whole: 0, streamed: 0, abandoned: 0, broken: 0, rerouted: 0 };
  const endsAtMs = performance.now() + lastsMs;
  const residentBytes: number[] = [];
  const work = async (kind: keyof MixedRequests): Promise<void> => {
    while (performance.now() < endsAtMs) {
      await visit(gateway.port, kind, requests[kind], () => {
        counts[kind] += 1;
        return performance.now() < endsAtMs;
      });
    }
  };
  const watch = async (): Promise<void> => {
    while (performance.now() < endsAtMs) {
      residentBytes.push(readResidentBytes(gateway.processId));
      if (residentBytes.length % printEverySamples === 1) {
        const megabytes = (residentBytes.at(-1) ?? 0) / 1024 / 1024;
        const calls = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
        console.error(`${megabytes.toFixed(0)} MB after ${calls.join(", ")}`);
      }
      await wait(sampleEveryMs);
    }
  };
  const kinds = (Object.keys(callers) as (keyof MixedRequests)[]).flatMap((kind) =>
    Array.from({ length: callers[kind] }, () => kind),
  );
  await Promise.all([watch(), ...kinds.map(work)]);
  return { counts, residentBytes };
}

/** One connection with the calls of one caller. */
async function visit(port: number, kind: keyof MixedRequests, request: Buffer, goesOn: () => boolean): Promise<void> {
  const connection = await openLoadConnection(port);
  try {
    if (kind === "abandoned") {
      await connection.begin(request);
      goesOn();
      return;
    }
    do {
      const answer = await connection.ask(request);
      // A broken stream has an end too, and once its upstream's circuit is open, there is no stream at all.
      if (kind === "broken") requireBroken(answer);
      else requireWhole(answer, kind === "streamed");
    } while (goesOn());
  } finally {
    connection.close();
  }
}

function requireBroken({ status, isDone }: { status: number; isDone: boolean }): void {
  if (isDone || (status !== 200 && status !== 503)) throw new Error(`A broken stream was answered with ${status}.`);
}

/** Memory is flat when its end is only slightly above its second fifth; the first is warm-up. */
export function judgeFlatness(residentBytes: readonly number[]): { early: number; late: number; isFlat: boolean } {
  const fifth = Math.max(1, Math.floor(residentBytes.length / 5));
  const early = findMedian(residentBytes.slice(fifth, 2 * fifth));
  const late = findMedian(residentBytes.slice(-fifth));
  return { early, late, isFlat: late <= early * growthMax + growthBytesMax };
}
