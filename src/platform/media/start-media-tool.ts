import type { Readable } from "node:stream";
import { invariant } from "../../lib/invariant.ts";
import { findMediaTools, type MediaToolName } from "./find-media-tools.ts";
import { type RunningProcess, startLimitedProcess } from "./start-limited-process.ts";

export type MediaToolCall = {
  tool: MediaToolName;
  /** As for the command line. Every input says what it is by `-f`: nothing is guessed from what strangers sent. */
  args: readonly string[];
  signal: AbortSignal;
  timeoutMs: number;
  /** Of address space, threads' stacks and all: several times of what is really used. */
  memoryBytesMax?: number;
  /** What the tool reads as `pipe:0`. */
  input?: Readable | Buffer;
};

/** A film of 1280 × 720 needs 0.7 GB of address space with two threads; each more of them some 0.05. */
const memoryBytesMaxStandard = 3 * 1024 ** 3;

/**
 * Starts ffmpeg or ffprobe as a child process that can do little harm: no environment of ours, no network protocols,
 * an end to its time and memory, low priority, and no life beyond ours. Its standard output is `pipe:1`.
 */
export async function startMediaTool(call: MediaToolCall): Promise<RunningProcess> {
  call.signal.throwIfAborted();
  const tools = await findMediaTools();
  return startLimitedProcess({
    name: call.tool,
    command: [tools[call.tool].path, ...guardArguments(call)],
    environment: {},
    launchers: tools.launchers,
    memory: { kind: "as", bytesMax: call.memoryBytesMax ?? memoryBytesMaxStandard },
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    input: call.input,
  });
}

/** The whitelist concerns one input at a time, so that it stands before each; it also rules what inputs lead to. */
function guardArguments({ tool, args }: MediaToolCall): string[] {
  const guard = ["-protocol_whitelist", "file,pipe"];
  if (tool === "ffprobe") {
    invariant(args.includes("-f"), "ffprobe is told what its input is");
    return ["-hide_banner", "-loglevel", "error", ...guard, ...args];
  }
  let isForced = false;
  const guarded = args.flatMap((word) => {
    if (word === "-f") isForced = true;
    if (word !== "-i") return [word];
    invariant(isForced, "ffmpeg is told what each of its inputs is");
    isForced = false;
    return [...guard, word];
  });
  return ["-nostdin", "-hide_banner", "-loglevel", "error", "-y", ...guarded];
}
