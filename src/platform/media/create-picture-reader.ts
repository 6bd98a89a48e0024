import { createReadStream } from "node:fs";
import { join } from "node:path";
import { describeNodeProgram } from "../confinement/node-program.ts";
import type { RunningProcess } from "../confinement/spawn-confined.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";
import { MediaToolError } from "./media-tool-error.ts";
import type { PictureReport } from "./read-picture.ts";

/** Reads pictures of strangers, each in a confined process that reads no other one. */
export type PictureReader = {
  read(path: string, signal: AbortSignal): Promise<PictureReport>;
  close(): Promise<void>;
};

const memoryBytesMax = 2 * 1024 ** 3;
const heapMebibytesMax = 256;
/** Who has waited so long for a picture goes: an idle gateway has no idle decoders. */
const spareMsMax = 60_000;
const readMsMax = 60_000;
const reportLengthMax = 10_000;
const ready = "ready\n";

class ReaderClosed extends Error {}

/** A process takes some 100 ms to start, so that the next one starts when a picture has come, and waits for another. */
export function createPictureReader(): PictureReader {
  let spare: { running: Promise<RunningProcess>; timer: NodeJS.Timeout } | null = null;
  let isClosed = false;

  function prepare(): void {
    if (isClosed || spare !== null) return;
    const running = startReader();
    const prepared = { running, timer: setTimeout(dismiss, spareMsMax).unref() };
    spare = prepared;
    // One that ends before its time, such as by a machine short of memory, is not waited with.
    const forget = (): void => void (spare === prepared && take());
    running.then(({ ended }) => ended.then(forget, forget), forget);
  }

  function take(): Promise<RunningProcess> | null {
    const taken = spare;
    spare = null;
    clearTimeout(taken?.timer);
    return taken?.running ?? null;
  }

  function dismiss(): void {
    take()?.then(
      ({ kill }) => kill(new ReaderClosed()),
      () => {},
    );
  }

  return {
    async read(path, signal) {
      signal.throwIfAborted();
      const running = await (take() ?? startReader());
      prepare();
      const onAbort = (): void => running.kill(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        running.feed(createReadStream(path));
        return await hear(running, signal);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    async close() {
      isClosed = true;
      dismiss();
    },
  };
}

function startReader(): Promise<RunningProcess> {
  const path = join(import.meta.dirname, "picture-process.ts");
  return startConfinedProcess({
    ...describeNodeProgram(path, { heapMebibytesMax, reads: [], writes: [] }),
    name: "picture-process.ts",
    // Its address space is mostly reserved and never used, so that only what is written to is counted.
    memory: { kind: "data", bytesMax: memoryBytesMax },
    signal: new AbortController().signal,
    timeoutMs: spareMsMax + readMsMax,
    input: "later",
  });
}

async function hear({ stdout, ended }: RunningProcess, signal: AbortSignal): Promise<PictureReport> {
  let said = "";
  try {
    for await (const chunk of stdout.setEncoding("utf8")) said = (said + chunk).slice(0, reportLengthMax);
    await ended;
    return parseReport(said.slice(ready.length));
  } catch (error) {
    signal.throwIfAborted();
    // A decoder that breaks down after it was ready was broken by the picture.
    if (error instanceof MediaToolError && said.startsWith(ready))
      return { kind: "unreadable", complaint: String(error) };
    throw error;
  }
}

/** Whoever wrote it may have been taken over by a picture: nothing but numbers and one of a few words is believed. */
function parseReport(answer: string): PictureReport {
  let report: unknown = null;
  try {
    report = JSON.parse(answer);
  } catch {
    // Then it is none.
  }
  if (typeof report === "object" && report !== null && "kind" in report) {
    const { kind, format, width, height } = report as Record<string, unknown>;
    if (kind === "too-many-pixels" || kind === "too-many-frames") return { kind };
    if (kind === "read" && typeof format === "string" && isSide(width) && isSide(height)) {
      return { kind, format, width, height };
    }
    if (kind === "unreadable") return { kind, complaint: String((report as { complaint?: unknown }).complaint) };
  }
  return { kind: "unreadable", complaint: "the decoder's answer makes no sense" };
}

function isSide(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0;
}
