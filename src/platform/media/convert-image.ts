import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describeNodeProgram } from "../confinement/node-program.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";

/** `quality` is a percentage for lossy formats; `sideMax` is in pixels and never enlarges. */
export type ImageFormat = { name: "png" | "jpeg" | "webp"; quality?: number; sideMax?: number };

const timeoutMs = 60_000;
const memoryBytesMax = 2 * 1024 ** 3;
const heapMebibytesMax = 256;
/** Visually lossless. */
const defaultQuality = 95;

/**
 * Converts an inspected image: upright, without metadata, first frame only. Runs in a confined process, because it decodes
 * the file again. The stream fails if the conversion does.
 */
export async function convertImage(
  path: string,
  { name, quality = defaultQuality, sideMax = 0 }: ImageFormat,
  signal: AbortSignal,
): Promise<Readable> {
  const program = join(import.meta.dirname, "conversion-process.ts");
  const { command, ...surroundings } = describeNodeProgram(program, { heapMebibytesMax, reads: [], writes: [] });
  const { stdout, ended } = await startConfinedProcess({
    ...surroundings,
    name: "conversion-process.ts",
    command: [...command, name, String(Math.max(1, quality)), String(sideMax)],
    memory: { kind: "data", bytesMax: memoryBytesMax },
    ...{ signal, timeoutMs },
    input: createReadStream(path),
  });
  return Readable.from(untilEnded(stdout, ended));
}

async function* untilEnded(stdout: Readable, ended: Promise<void>): AsyncGenerator<Buffer> {
  yield* stdout;
  await ended;
}
