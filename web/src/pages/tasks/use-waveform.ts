import { useEffect, useState } from "react";
import { readSound } from "../../api/ask-files.ts";
import type { TaskOutput } from "../../api/ask-tasks.ts";
import { measureBars } from "./measure-bars.ts";

/** Longer recordings cost more to load than a waveform is worth. */
const bytesMax = 2_000_000;
const sampleRate = 8_000;
const keptMax = 500;

const kept = new Map<string, readonly number[]>();

/** Loudness of each part, from 0 to 1; empty while unknown. */
export function useWaveform(output: TaskOutput, barCount: number): readonly number[] | null {
  const { file_id: fileId, bytes } = output;
  const [bars, setBars] = useState(kept.get(fileId) ?? null);
  useEffect(() => {
    if (kept.has(fileId) || bytes > bytesMax) return;
    let isLeft = false;
    measureSound(fileId, barCount)
      .then((measured) => {
        if (kept.size >= keptMax) kept.clear();
        kept.set(fileId, measured);
        if (!isLeft) setBars(measured);
      })
      // Undecodable audio has no waveform but still plays.
      .catch(() => {});
    return () => {
      isLeft = true;
    };
  }, [fileId, bytes, barCount]);
  return bars;
}

async function measureSound(fileId: string, barCount: number): Promise<number[]> {
  const sound = await new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(await readSound(fileId));
  return measureBars(sound.getChannelData(0), barCount);
}
