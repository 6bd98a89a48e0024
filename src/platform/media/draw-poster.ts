import { runMediaTool } from "./run-media-tool.ts";
import { describeUntrustedInput, findDemuxer } from "./untrusted-input.ts";

const timeoutMs = 30_000;
const posterBytesMax = 1024 * 1024;
/** Many videos fade in, so the frame is taken a little later. */
const laterShare = 0.25;
const laterSecondsMax = 2;

type Video = { path: string; contentType: string; durationMs: number | null };

/** A frame of an inspected video as JPEG, at most `sideMax` pixels per side; `null` if there is none. */
export async function drawPoster(
  { path, contentType, durationMs }: Video,
  { sideMax, signal }: { sideMax: number; signal: AbortSignal },
): Promise<Buffer | null> {
  const demuxer = findDemuxer(contentType);
  if (demuxer === null) return null;
  const seconds = Math.min(laterSecondsMax, ((durationMs ?? 0) / 1000) * laterShare);
  const { stdout } = await runMediaTool({
    tool: "ffmpeg",
    source: "strangers",
    args: [
      ...["-threads", "1", "-ss", seconds.toFixed(3), ...describeUntrustedInput(path, demuxer)],
      ...["-map", "0:V:0", "-frames:v", "1"],
      ...["-vf", `scale=w=${sideMax}:h=${sideMax}:force_original_aspect_ratio=decrease:force_divisible_by=2`],
      ...["-c:v", "mjpeg", "-q:v", "4", "-pix_fmt", "yuvj420p", "-f", "image2pipe", "pipe:1"],
    ],
    signal,
    timeoutMs,
    stdoutBytesMax: posterBytesMax,
  });
  return stdout.length === 0 ? null : stdout;
}
