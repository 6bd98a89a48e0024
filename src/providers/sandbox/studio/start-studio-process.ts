import { join } from "node:path";
import { findLaunchers } from "../../../platform/media/find-media-tools.ts";
import { type RunningProcess, startLimitedProcess } from "../../../platform/media/start-limited-process.ts";
import { fontsDir } from "../../../platform/text/font-metrics.ts";

export type StudioProcessCall = {
  program: "studio-process.ts" | "speech-process.ts";
  order: unknown;
  /** For fonts and compiled code, so that the next process starts faster. */
  cacheDir: string;
  signal: AbortSignal;
  timeoutMs: number;
};

/** A film of 1280 × 720 takes 0.4 GB; the synthesizer 0.2. */
const memoryBytesMax = 3 * 1024 ** 3;
const heapMebibytesMax = 1024;

/** Starts a process of the studio. It knows nothing but its order, the fonts and a folder for what it may keep. */
export async function startStudioProcess(call: StudioProcessCall): Promise<RunningProcess> {
  return startLimitedProcess({
    name: call.program,
    command: [process.execPath, `--max-old-space-size=${heapMebibytesMax}`, join(import.meta.dirname, call.program)],
    environment: {
      FONTCONFIG_FILE: join(fontsDir, "fonts.conf"),
      XDG_CACHE_HOME: call.cacheDir,
      NODE_COMPILE_CACHE: join(call.cacheDir, "code"),
    },
    launchers: await findLaunchers(),
    // Its address space is mostly reserved and never used, so that only what is written to is counted.
    memory: { kind: "data", bytesMax: memoryBytesMax },
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    input: Buffer.from(JSON.stringify(call.order)),
  });
}
