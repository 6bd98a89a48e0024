import { createInterface } from "node:readline";
import type { RunningProcess } from "../confinement/spawn-confined.ts";
import { MediaToolError } from "./media-tool-error.ts";
import { type MediaToolCall, startMediaTool } from "./start-media-tool.ts";

type WholeMediaToolCall = MediaToolCall & {
  stdoutBytesMax: number;
  /** Receives each line of standard output, which is then not collected. */
  onLine?(line: string): void;
};

const logCharactersMax = 64 * 1024;

/** Runs ffmpeg or ffprobe confined and returns its output, and the start of its log. */
export async function runMediaTool(call: WholeMediaToolCall): Promise<{ stdout: Buffer; log: string }> {
  const running = await startMediaTool(call);
  const chunks = collectChunks(running, call);
  let log = "";
  running.stderr.on("data", (text: string) => {
    if (log.length < logCharactersMax) log += text;
  });
  await running.ended;
  return { stdout: Buffer.concat(chunks), log };
}

function collectChunks(running: RunningProcess, { stdoutBytesMax, onLine, tool }: WholeMediaToolCall): Buffer[] {
  const chunks: Buffer[] = [];
  let bytes = 0;
  running.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > stdoutBytesMax) {
      running.kill(new MediaToolError("too-much-output", `${tool} wrote more than ${stdoutBytesMax} bytes.`));
    } else if (onLine === undefined) chunks.push(chunk);
  });
  if (onLine !== undefined) createInterface({ input: running.stdout }).on("line", onLine);
  return chunks;
}
