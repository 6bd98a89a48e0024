import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { describeNodeProgram } from "../confinement/node-program.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";
import { MediaToolError } from "./media-tool-error.ts";
import type { ImageReport } from "./read-image.ts";

/** Reads user-supplied images in confined processes. */
export type ImageReader = {
  read(path: string, signal: AbortSignal): Promise<ImageReport>;
  close(): Promise<void>;
};

const memoryBytesMax = 2 * 1024 ** 3;
const heapMebibytesMax = 256;
/** An idle decoder exits after this time. */
const spareMsMax = 60_000;
/** As many as the gateway's inspections at a time. */
const sparesMax = 2;
const readMsMax = 60_000;
/** Startup takes 100 ms, so decoders are reused. A compromised one can falsify at most this many reports. */
const imagesMax = 32;
const lifeMsMax = imagesMax * readMsMax;
const reportLengthMax = 10_000;

class ReaderClosed extends Error {}

/** Keeps a few spare processes; concurrent images each get their own. */
export function createImageReader(): ImageReader {
  const spares = new Map<Decoder, NodeJS.Timeout>();
  let isClosed = false;

  function take(): Decoder | null {
    for (const [decoder, timer] of spares) {
      spares.delete(decoder);
      clearTimeout(timer);
      if (decoder.canRead()) return decoder;
    }
    return null;
  }

  function putBack(decoder: Decoder): void {
    if (isClosed || spares.size >= sparesMax || !decoder.canRead()) decoder.end();
    else spares.set(decoder, setTimeout(() => end(decoder), spareMsMax).unref());
  }

  function end(decoder: Decoder): void {
    clearTimeout(spares.get(decoder));
    spares.delete(decoder);
    decoder.end();
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
      for (const decoder of [...spares.keys()]) end(decoder);
    },
  };
}

type Decoder = {
  /** Alive and below `imagesMax`. */
  canRead(): boolean;
  read(path: string, signal: AbortSignal): Promise<ImageReport>;
  end(): void;
};

async function startDecoder(): Promise<Decoder> {
  const path = join(import.meta.dirname, "image-process.ts");
  const running = await startConfinedProcess({
    ...describeNodeProgram(path, { heapMebibytesMax, reads: [], writes: [] }),
    name: "image-process.ts",
    // Most of its address space is reserved but unused, so only writable memory counts.
    memory: { kind: "data", bytesMax: memoryBytesMax },
    signal: new AbortController().signal,
    timeoutMs: lifeMsMax,
    input: "later",
  });
  const images = new PassThrough();
  running.feed(images);
  const lines = readLines(running.stdout);
  let isReady = false;
  let left = imagesMax;
  const over = running.ended.then(
    () => {},
    () => {},
  );
  void over.then(() => {
    left = 0;
  });

  async function send(imagePath: string): Promise<void> {
    const length = Buffer.alloc(4);
    length.writeUInt32BE((await stat(imagePath)).size);
    images.write(length);
    for await (const chunk of createReadStream(imagePath)) {
      if (!images.write(chunk)) await Promise.race([once(images, "drain"), over]);
    }
  }

  /** Rejects with the exit reason if the process ended without a report. */
  async function readReport(): Promise<ImageReport> {
    const nextLine = () => lines.next().catch(() => ({ value: undefined }));
    isReady ||= (await nextLine()).value !== undefined;
    const { value: line } = await nextLine();
    if (line === undefined) await running.ended;
    return parseReport(line ?? "");
  }

  return {
    canRead: () => left > 0,
    async read(imagePath, signal) {
      left -= 1;
      const abort = (): void => running.kill(signal.reason);
      const timer = setTimeout(
        () => running.kill(new MediaToolError("timeout", "Decoding the image timed out.")),
        readMsMax,
      );
      signal.addEventListener("abort", abort, { once: true });
      try {
        await send(imagePath);
        return await readReport();
      } catch (error) {
        signal.throwIfAborted();
        // A decoder that crashes after it was ready was crashed by the image.
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

/** Lines, truncated to the maximum report length. */
async function* readLines(stdout: Readable): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const chunk of stdout.setEncoding("utf8")) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = (lines.pop() ?? "").slice(0, reportLengthMax);
    yield* lines;
  }
}

/** The process may be compromised by an image: accept only known kinds and numbers. */
function parseReport(answer: string): ImageReport {
  let report: unknown = null;
  try {
    report = JSON.parse(answer);
  } catch {
    // Not JSON.
  }
  if (typeof report === "object" && report !== null && "kind" in report) {
    const { kind, format, width, height } = report as Record<string, unknown>;
    if (kind === "too-many-pixels" || kind === "too-many-frames") return { kind };
    if (kind === "read" && typeof format === "string" && isSide(width) && isSide(height)) {
      return { kind, format, width, height };
    }
    if (kind === "unreadable") return { kind, complaint: String((report as { complaint?: unknown }).complaint) };
  }
  return { kind: "unreadable", complaint: "the decoder's report is invalid" };
}

function isSide(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0;
}
