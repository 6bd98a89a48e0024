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
  /** A cache for fonts and compiled code, so that the next process starts faster. */
  cacheDir: string;
  signal: AbortSignal;
  timeoutMs: number;
};

/** A video of 1280 × 720 takes 0.4 GB; the synthesizer 0.2 GB. */
const memoryBytesMax = 3 * 1024 ** 3;
const heapMebibytesMax = 1024;
const packageDir = join(import.meta.dirname, "../..");

/** Starts a confined studio process, with access only to its order, its inputs, the fonts and its output folder. */
export async function startStudioProcess(call: StudioProcessCall): Promise<RunningProcess> {
  const { reads, runs = [], writes, cacheDir } = call;
  // A process that reads callers' files must not write compiled code that the next process would run.
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
      // Large images are buffered in a file.
      ...(writes[0] === undefined ? {} : { TMPDIR: writes[0] }),
    },
    mayFork: runs.length > 0,
    // Most of the reserved address space is never used, so only written memory is limited.
    memory: { kind: "data", bytesMax: memoryBytesMax },
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    input: Buffer.from(JSON.stringify(call.order)),
  });
}
