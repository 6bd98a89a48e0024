import type { Readable } from "node:stream";
import { invariant } from "../../lib/invariant.ts";
import { findConfinement } from "../confinement/find-confinement.ts";
import type { RunningProcess } from "../confinement/spawn-confined.ts";
import { startConfinedProcess } from "../confinement/start-confined-process.ts";
import type { View } from "../confinement/view.ts";
import { OperatorError } from "../errors/operator-error.ts";
import { findMediaTools, isMaintained, type MediaTool, type MediaToolName } from "./find-media-tools.ts";

export type MediaToolCall = {
  tool: MediaToolName;
  /**
   * Command line arguments. Every input needs `-f`: no format probing of untrusted files. Every file is `file:<path>`:
   * inputs are readable, outputs writable, and nothing else is visible.
   */
  args: readonly string[];
  /** User-supplied files may exploit the decoder. */
  source: "strangers" | "ours";
  /** Files that an input references, such as a concat list. */
  alsoReads?: readonly string[];
  signal: AbortSignal;
  timeoutMs: number;
  /** Writable memory, including thread stacks. */
  memoryBytesMax?: number;
  /** `pipe:0`. */
  input?: Readable | Buffer;
};

/** A video of 1920 × 1080 with many captions takes 1.4 GB. */
const defaultMemoryBytesMax = 3 * 1024 ** 3;

/** Starts ffmpeg or ffprobe confined, without network protocols. Standard output is `pipe:1`. */
export async function startMediaTool(call: MediaToolCall): Promise<RunningProcess> {
  call.signal.throwIfAborted();
  const tool = (await findMediaTools())[call.tool];
  if (call.source === "strangers") await requireSafe(call.tool, tool);
  const { reads, writes } = listFiles(call);
  return await startConfinedProcess({
    name: call.tool,
    command: [tool.path, ...guardArguments(call)],
    environment: {},
    view: { reads: [...reads, ...(call.alsoReads ?? [])], writes },
    // Decoders reserve far more address space than they use.
    memory: { kind: "data", bytesMax: call.memoryBytesMax ?? defaultMemoryBytesMax },
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    input: call.input,
  });
}

/** Rejects untrusted input if the decoder is outdated and not confined. */
async function requireSafe(name: MediaToolName, tool: MediaTool): Promise<void> {
  if (isMaintained(tool) || (await findConfinement()).kind !== "none") return;
  throw new OperatorError(
    `${name} dates from ${tool.year} and is not confined, so it must not decode user-supplied files.`,
    "Install a maintained one (apt-get install ffmpeg) or bubblewrap (apt-get install bubblewrap).",
  );
}

/** The whitelist applies to the next input and the files it references, so it precedes each `-i`. */
function guardArguments({ tool, args }: MediaToolCall): string[] {
  const guard = ["-protocol_whitelist", "file,pipe"];
  if (tool === "ffprobe") {
    invariant(args.includes("-f"), "ffprobe needs -f");
    return ["-hide_banner", "-loglevel", "error", ...guard, ...args];
  }
  let isForced = false;
  const guarded = args.flatMap((word) => {
    if (word === "-f") isForced = true;
    if (word !== "-i") return [word];
    invariant(isForced, "ffmpeg needs -f before each input");
    isForced = false;
    return [...guard, word];
  });
  return ["-nostdin", "-hide_banner", "-loglevel", "error", "-y", ...guarded];
}

const filePrefix = "file:";

/** Files after `-i`, and all files of ffprobe, are inputs; others are outputs. */
function listFiles({ tool, args }: MediaToolCall): View {
  const view = { reads: [] as string[], writes: [] as string[] };
  for (const [index, word] of args.entries()) {
    if (!word.startsWith(filePrefix)) continue;
    const isInput = tool === "ffprobe" || args[index - 1] === "-i";
    view[isInput ? "reads" : "writes"].push(word.slice(filePrefix.length));
  }
  return view;
}
