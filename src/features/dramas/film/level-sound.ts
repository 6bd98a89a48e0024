import { runMediaTool } from "../../../platform/media/run-media-tool.ts";
import { samplesPerSecond, soundInput } from "./sound-format.ts";
import { fromDecibels } from "./speech-level.ts";

type LevelCall = { soundPath: string; timeoutMs: number; signal: AbortSignal };

/** The target loudness in LUFS for streaming (EBU R 128 s2). */
const loudnessWanted = -16;
/** Below the −1.5 dBTP limit, because encoding raises some peaks. */
const peakDbMax = -2.5;
/** A quieter film counts as silent and is left alone. */
const audibleLoudnessMin = -55;
const toleranceDb = 0.3;
/** Each pass corrects what the limiter removed in the previous one. */
const passesMax = 3;
const measureBytesMax = 64 * 1024 * 1024;

/** The filters that bring a film to the target loudness without exceeding the peak limit. */
export async function levelSound(call: LevelCall): Promise<string> {
  const measured = await measureLoudness("anull", call);
  if (measured < audibleLoudnessMin) return "anull";
  let gainDb = loudnessWanted - measured;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const missedDb = loudnessWanted - (await measureLoudness(describeLevel(gainDb), call));
    if (Math.abs(missedDb) <= toleranceDb) break;
    gainDb += missedDb;
  }
  return describeLevel(gainDb);
}

/** Oversamples four times, so that the limiter also catches peaks between samples. */
function describeLevel(gainDb: number): string {
  const limiter = `alimiter=limit=${fromDecibels(peakDbMax).toFixed(4)}:attack=3:release=60:level=0`;
  return `volume=${gainDb.toFixed(2)}dB:precision=float,aresample=${4 * samplesPerSecond},${limiter},aresample=${samplesPerSecond}`;
}

/** The integrated loudness by EBU R 128, in LUFS. */
async function measureLoudness(filters: string, { soundPath, timeoutMs, signal }: LevelCall): Promise<number> {
  let loudness = Number.NEGATIVE_INFINITY;
  const meter = "ebur128=metadata=1,ametadata=print:key=lavfi.r128.I:file=-";
  await runMediaTool({
    tool: "ffmpeg",
    source: "ours",
    args: [...soundInput, `file:${soundPath}`, "-af", `${filters},${meter}`, "-f", "null", "-"],
    signal,
    timeoutMs,
    stdoutBytesMax: measureBytesMax,
    onLine(line) {
      const value = /^lavfi\.r128\.I=(-?[\d.]+)/.exec(line)?.[1];
      if (value !== undefined) loudness = Number(value);
    },
  });
  return loudness;
}
