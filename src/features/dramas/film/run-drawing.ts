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

/** Draws title card, poster and captions in a confined process with only our fonts. */
export async function runDrawing(order: DrawingOrder, signal: AbortSignal): Promise<DrawingAnswer> {
  const { folder } = order;
  // The confined fontconfig cannot create its cache folder, because it would change the folder's mode.
  await mkdir(join(folder, "cache", "fontconfig"), { recursive: true, mode: 0o700 });
  const lineCount = order.shots.reduce((sum, { lines }) => sum + lines.length, 0);
  const program = describeNodeProgram(join(import.meta.dirname, "drawing-process.ts"), {
    heapMebibytesMax,
    reads: [order.imagePath],
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
    // Node reserves much address space without using it, so limit only data.
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
    // The missing output is noticed first; the exit of the process has the cause.
    const cause: unknown = await running.ended.then(
      () => error,
      (reason: unknown) => reason,
    );
    const detail = cause instanceof MediaToolError ? cause.detail : undefined;
    throw new FilmError("Drawing the title and captions failed.", { detail, cause });
  }
}
