import { setTimeout as wait } from "node:timers/promises";
import { type RecordingServer, startRecordingServer } from "./recording-server.ts";

/** One scripted answer of an upstream, with the ways in which upstreams misbehave. */
type UpstreamAnswer = {
  status?: number;
  headers?: Record<string, string>;
  /** Sent one after another, as a stream of bytes would arrive. */
  chunks?: readonly string[];
  /** Silence before the head. */
  delayMs?: number;
  /** The connection is cut after this many chunks. */
  cutAfterChunks?: number;
};

export type FakeUpstream = RecordingServer & {
  /** The next requests get these answers, in this order. */
  script(...answers: readonly UpstreamAnswer[]): void;
};

/** Stands in for a vendor: speaks real HTTP, answers what the test scripted, and 500 when nothing is left. */
export async function startFakeUpstream(): Promise<FakeUpstream> {
  const pending: UpstreamAnswer[] = [];
  const server = await startRecordingServer(async (_request, response) => {
    const { status = 200, headers = {}, chunks = [], delayMs = 0, cutAfterChunks } = pending.shift() ?? { status: 500 };
    await wait(delayMs);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.flushHeaders();
    for (const chunk of chunks.slice(0, cutAfterChunks)) response.write(chunk);
    if (cutAfterChunks === undefined) response.end();
    // Writing is done in order, so the cut comes after the chunks have left.
    else response.write("", () => response.destroy());
  });
  return Object.assign(server, {
    script: (...answers: readonly UpstreamAnswer[]) => {
      pending.push(...answers);
    },
  });
}
