import { join } from "node:path";
import {
  describeNodeProgram,
  fontsDir,
  type RunningProcess,
  startConfinedProcess,
  type View,
} from "../../../../src/providers/adapter-tools.ts";

export type StudioProcessCall = View & {
  program: "studio-process.ts" | "speech/speech-process.ts";
  order: unknown;
  /** For fonts and compiled code, so that the next process starts faster. */
  cacheDir: string;
  signal: AbortSignal;
  timeoutMs: number;
};

/** A video of 1280 × 720 takes 0.4 GB; the synthesizer 0.2. */
const memoryBytesMax = 3 * 1024 ** 3;
const heapMebibytesMax = 1024;
const packageDir = join(import.meta.dirname, "../..");

/** Starts a process of the studio. It knows nothing but its order, its inputs, the fonts and where it may write. */
export async function startStudioProcess(call: StudioProcessCall): Promise<RunningProcess> {
  const { reads, runs = [], writes, cacheDir } = call;
  // Whoever reads what strangers sent leaves nothing that the next process would run.
  const isTrusted = reads.length === 0;
  const program = describeNodeProgram(join(import.meta.dirname, call.program), {
    heapMebibytesMax,
    reads: [packageDir, ...(isTrusted ? [] : [...reads, cacheDir])],
    runs,
    writes: isTrusted ? [...writes, cacheDir] : writes,
  });
  return await startConfinedProcess({
    ...program,
    name: call.program,
    environment: {
      ...program.environment,
      FONTCONFIG_FILE: join(fontsDir, "fonts.conf"),
      XDG_CACHE_HOME: cacheDir,
      NODE_COMPILE_CACHE: join(cacheDir, "code"),
      // Large images pass through a file.
      ...(writes[0] === undefined ? {} : { TMPDIR: writes[0] }),
    },
    mayFork: runs.length > 0,
    // Its address space is mostly reserved and never used, so that only what is written to is counted.
    memory: { kind: "data", bytesMax: memoryBytesMax },
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    input: Buffer.from(JSON.stringify(call.order)),
  });
}
