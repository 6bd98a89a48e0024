import type { Duplex } from "node:stream";
import type { CounterDecision, Counters } from "./counters.ts";

/** An operation on the counters, sent by a process to the supervisor. */
export type CounterRequest =
  | ["take", Parameters<Counters["take"]>[0]]
  | ["correct", Parameters<Counters["correct"]>[0]]
  | ["renew", Parameters<Counters["renew"]>[0]]
  | ["release", Parameters<Counters["release"]>[0]];

/** A numbered batch of requests. */
export type RequestFrame = [number: number, requests: readonly CounterRequest[]];

/** Responses in the order of the requests; only `take` has a decision. */
export type ResponseFrame = [number: number, responses: readonly (CounterDecision | null)[]];

/** Parses each line. The peer is trusted: both ends are processes of one gateway. */
export function readJsonLines(stream: Duplex, onValue: (value: unknown) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onValue(JSON.parse(line));
  });
}

export function writeJsonLine(stream: Duplex, value: unknown): void {
  if (stream.writable) stream.write(`${JSON.stringify(value)}\n`);
}
