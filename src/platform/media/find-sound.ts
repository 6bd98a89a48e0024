import { invariant } from "../../lib/invariant.ts";
import { MediaToolError } from "./media-tool-error.ts";
import { runMediaTool } from "./run-media-tool.ts";
import { describeUntrustedInput, findDemuxer } from "./untrusted-input.ts";

/** Whether a recording is audible. */
export type SoundFinding = "heard" | "silent" | "no-track";

const timeoutMs = 60_000;
const outputBytesMax = 1024 * 1024;
/** -60 dB is the noise of a good microphone in a quiet room. */
const silence = "silenceremove=start_periods=1:start_threshold=-60dB:detection=peak";

/** Decodes an inspected recording until the first audible sample. */
export async function findSound(
  path: string,
  { contentType, signal }: { contentType: string; signal: AbortSignal },
): Promise<SoundFinding> {
  const demuxer = findDemuxer(contentType);
  invariant(demuxer !== null, `no demuxer for ${contentType}`);
  try {
    const { stdout } = await runMediaTool({
      tool: "ffmpeg",
      source: "strangers",
      args: [
        ...["-threads", "1", ...describeUntrustedInput(path, demuxer), "-map", "0:a:0", "-vn"],
        // The first frame after the leading silence.
        ...["-af", silence, "-frames:a", "1"],
        ...["-f", "s16le", "pipe:1"],
      ],
      signal,
      timeoutMs,
      stdoutBytesMax: outputBytesMax,
    });
    return stdout.length > 0 ? "heard" : "silent";
  } catch (error) {
    if (hasNoTrack(error)) return "no-track";
    throw error;
  }
}

function hasNoTrack(error: unknown): boolean {
  return error instanceof MediaToolError && /matches no streams/i.test(String(error.detail?.stderr));
}
