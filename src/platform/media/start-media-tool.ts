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
   * As for the command line. Every input says what it is by `-f`: nothing is guessed from what strangers sent. Every file
   * is written as `file:<path>`: an input may be read, an output be written, and nothing else is seen.
   */
  args: readonly string[];
  /** Whose bytes are decoded. Those of strangers may have been made to break the decoder. */
  source: "strangers" | "ours";
  /** Files that an input leads to, as a list of videos does. */
  alsoReads?: readonly string[];
  signal: AbortSignal;
  timeoutMs: number;
  /** Of what it can write to, threads' stacks and all. */
  memoryBytesMax?: number;
  /** What the tool reads as `pipe:0`. */
  input?: Readable | Buffer;
};

/** A video of 1920 × 1080 with many captions takes 1.4 GB. */
const memoryBytesMaxStandard = 3 * 1024 ** 3;

/** Starts ffmpeg or ffprobe as a confined process, without protocols of the network. Its standard output is `pipe:1`. */
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
    // A decoder with many libraries and threads reserves far more address space than it ever writes to.
    memory: { kind: "data", bytesMax: call.memoryBytesMax ?? memoryBytesMaxStandard },
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    input: call.input,
  });
}

/** Known flaws and nothing around them: what strangers send is not for such a decoder. */
async function requireSafe(name: MediaToolName, tool: MediaTool): Promise<void> {
  if (isMaintained(tool) || (await findConfinement()).kind !== "none") return;
  throw new OperatorError(
    `The ${name} of this machine is of ${tool.year}, and nothing here confines it: it decodes nothing that strangers sent.`,
    "Install one that is maintained (apt-get install ffmpeg), or bubblewrap (apt-get install bubblewrap).",
  );
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

const filePrefix = "file:";

/** What follows `-i` is an input, and so is all that ffprobe is told; other files are outputs. */
function listFiles({ tool, args }: MediaToolCall): View {
  const view = { reads: [] as string[], writes: [] as string[] };
  for (const [index, word] of args.entries()) {
    if (!word.startsWith(filePrefix)) continue;
    const isInput = tool === "ffprobe" || args[index - 1] === "-i";
    view[isInput ? "reads" : "writes"].push(word.slice(filePrefix.length));
  }
  return view;
}
