import { createReadStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describeNodeProgram } from "../confinement/node-program.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";

/** `quality` is a percentage, of formats that lose something; `sideMax` is in pixels, and nothing is made larger. */
export type PictureFormat = { name: "png" | "jpeg" | "webp"; quality?: number; sideMax?: number };

const timeoutMs = 60_000;
const memoryBytesMax = 2 * 1024 ** 3;
const heapMebibytesMax = 256;
/** What is not told is kept as well as eyes can see. */
const qualityUsual = 95;

/**
 * An image that was inspected, as another format: upright, without anything hidden, the first of several frames. It is
 * decoded again for that, so that it is done in a confined process. The stream fails where that does.
 */
export async function convertPicture(
  path: string,
  { name, quality = qualityUsual, sideMax = 0 }: PictureFormat,
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
