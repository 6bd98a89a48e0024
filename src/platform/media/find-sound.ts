import { invariant } from "../../lib/invariant.ts";
import { describeForeignInput } from "./foreign-input.ts";
import { findDemuxer } from "./media-demuxers.ts";
import { MediaToolError } from "./media-tool-error.ts";
import { runMediaTool } from "./run-media-tool.ts";

/** Whether there is something to hear in a recording. */
export type SoundFinding = "heard" | "silent" | "no-track";

const listenMsMax = 60_000;
const outputBytesMax = 1024 * 1024;
/** No peak is louder than the noise of a good microphone in a quiet room. */
const silence = "silenceremove=start_periods=1:start_threshold=-60dB:detection=peak";

/** Listens to a stranger's recording, which was inspected before, until there is something to hear; often its beginning. */
export async function findSound(
  path: string,
  { contentType, signal }: { contentType: string; signal: AbortSignal },
): Promise<SoundFinding> {
  const demuxer = findDemuxer(contentType);
  invariant(demuxer !== null, `nobody reads ${contentType}`);
  try {
    const { stdout } = await runMediaTool({
      tool: "ffmpeg",
      source: "strangers",
      args: [
        ...["-threads", "1", ...describeForeignInput(path, demuxer), "-map", "0:a:0", "-vn"],
        // Of what is left when the silence at its beginning is taken away, the first frame.
        ...["-af", silence, "-frames:a", "1"],
        ...["-f", "s16le", "pipe:1"],
      ],
      signal,
      timeoutMs: listenMsMax,
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
