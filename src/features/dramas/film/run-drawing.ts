import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describeNodeProgram } from "../../../platform/confinement/node-program.ts";
import { startConfinedProcess } from "../../../platform/confinement/start-confined-process.ts";
import { MediaToolError } from "../../../platform/media/media-tool-error.ts";
import { fontsDir } from "../../../platform/text/font-metrics.ts";
import type { DrawingAnswer, DrawingOrder } from "./drawing-order.ts";
import { FilmError } from "./film-error.ts";

const memoryBytesMax = 3 * 1024 ** 3;
const heapMebibytesMax = 512;
const drawMsMin = 120_000;
const drawMsPerLine = 5000;

/** Draws title card, poster and captions in a process that has our fonts and no others. */
export async function runDrawing(order: DrawingOrder, signal: AbortSignal): Promise<DrawingAnswer> {
  const { folder } = order;
  // Confined, fontconfig cannot make the folder for what it remembers: it would change the folder's mode.
  await mkdir(join(folder, "cache", "fontconfig"), { recursive: true, mode: 0o700 });
  const lineCount = order.shots.reduce((sum, { lines }) => sum + lines.length, 0);
  const program = describeNodeProgram(join(import.meta.dirname, "drawing-process.ts"), {
    heapMebibytesMax,
    reads: [order.picturePath],
    writes: [folder],
  });
  const running = await startConfinedProcess({
    ...program,
    name: "drawing-process.ts",
    environment: {
      ...program.environment,
      FONTCONFIG_FILE: join(fontsDir, "fonts.conf"),
      XDG_CACHE_HOME: join(folder, "cache"),
      TMPDIR: folder,
    },
    // Its address space is mostly reserved and never used, so that only what is written to is counted.
    memory: { kind: "data", bytesMax: memoryBytesMax },
    signal,
    timeoutMs: drawMsMin + lineCount * drawMsPerLine,
    input: Buffer.from(JSON.stringify(order)),
  });
  try {
    const [answer] = await Promise.all([text(running.stdout), running.ended]);
    return JSON.parse(answer) as DrawingAnswer;
  } catch (error) {
    signal.throwIfAborted();
    // That it ended without an answer is known first; why it did, it says itself.
    const cause: unknown = await running.ended.then(
      () => error,
      (reason: unknown) => reason,
    );
    const detail = cause instanceof MediaToolError ? cause.detail : undefined;
    throw new FilmError("Title and captions could not be drawn.", { detail, cause });
  }
}
