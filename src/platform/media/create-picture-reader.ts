import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { describeNodeProgram } from "../confinement/node-program.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";
import { MediaToolError } from "./media-tool-error.ts";
import type { PictureReport } from "./read-picture.ts";

/** Reads images of strangers in confined processes. */
export type PictureReader = {
  read(path: string, signal: AbortSignal): Promise<PictureReport>;
  close(): Promise<void>;
};

const memoryBytesMax = 2 * 1024 ** 3;
const heapMebibytesMax = 256;
/** Who has waited so long for an image goes: an idle gateway has no idle decoders. */
const spareMsMax = 60_000;
const readMsMax = 60_000;
/** A process takes some 100 ms to start. Whoever breaks one falsifies the reports of at most as many images. */
const picturesMax = 32;
const lifeMsMax = picturesMax * readMsMax;
const reportLengthMax = 10_000;

class ReaderClosed extends Error {}

/** Keeps one process for the next image; of several images at once, each has its own. */
export function createPictureReader(): PictureReader {
  let spare: { decoder: Decoder; timer: NodeJS.Timeout } | null = null;
  let isClosed = false;

  function take(): Decoder | null {
    const taken = spare;
    spare = null;
    clearTimeout(taken?.timer);
    return taken?.decoder.canRead() === true ? taken.decoder : null;
  }

  function putBack(decoder: Decoder): void {
    if (isClosed || spare !== null || !decoder.canRead()) decoder.end();
    else spare = { decoder, timer: setTimeout(() => take()?.end(), spareMsMax).unref() };
  }

  return {
    async read(path, signal) {
      signal.throwIfAborted();
      const decoder = take() ?? (await startDecoder());
      try {
        return await decoder.read(path, signal);
      } finally {
        putBack(decoder);
      }
    },
    async close() {
      isClosed = true;
      take()?.end();
    },
  };
}

type Decoder = {
  /** Whether it is in order, and has not read its last image. */
  canRead(): boolean;
  read(path: string, signal: AbortSignal): Promise<PictureReport>;
  end(): void;
};

async function startDecoder(): Promise<Decoder> {
  const path = join(import.meta.dirname, "picture-process.ts");
  const running = await startConfinedProcess({
    ...describeNodeProgram(path, { heapMebibytesMax, reads: [], writes: [] }),
    name: "picture-process.ts",
    // Its address space is mostly reserved and never used, so that only what is written to is counted.
    memory: { kind: "data", bytesMax: memoryBytesMax },
    signal: new AbortController().signal,
    timeoutMs: lifeMsMax,
    input: "later",
  });
  const pictures = new PassThrough();
  running.feed(pictures);
  const lines = readLines(running.stdout);
  let isReady = false;
  let left = picturesMax;
  const over = running.ended.then(
    () => {},
    () => {},
  );
  void over.then(() => {
    left = 0;
  });

  async function send(picturePath: string): Promise<void> {
    const length = Buffer.alloc(4);
    length.writeUInt32BE((await stat(picturePath)).size);
    pictures.write(length);
    for await (const chunk of createReadStream(picturePath)) {
      if (!pictures.write(chunk)) await Promise.race([once(pictures, "drain"), over]);
    }
  }

  /** Rejects with the reason of its end where it ended without a word. */
  async function hear(): Promise<PictureReport> {
    const nextLine = () => lines.next().catch(() => ({ value: undefined }));
    isReady ||= (await nextLine()).value !== undefined;
    const { value: line } = await nextLine();
    if (line === undefined) await running.ended;
    return parseReport(line ?? "");
  }

  return {
    canRead: () => left > 0,
    async read(picturePath, signal) {
      left -= 1;
      const abort = (): void => running.kill(signal.reason);
      const timer = setTimeout(() => running.kill(new MediaToolError("timeout", "An image took too long.")), readMsMax);
      signal.addEventListener("abort", abort, { once: true });
      try {
        await send(picturePath);
        return await hear();
      } catch (error) {
        signal.throwIfAborted();
        // A decoder that breaks down after it was ready was broken by the image.
        if (error instanceof MediaToolError && isReady) return { kind: "unreadable", complaint: String(error) };
        throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      }
    },
    end: () => running.kill(new ReaderClosed()),
  };
}

/** The lines that a process writes, none of which is long. */
async function* readLines(stdout: Readable): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const chunk of stdout.setEncoding("utf8")) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = (lines.pop() ?? "").slice(0, reportLengthMax);
    yield* lines;
  }
}

/** Whoever wrote it may have been taken over by an image: nothing but numbers and one of a few words is believed. */
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
