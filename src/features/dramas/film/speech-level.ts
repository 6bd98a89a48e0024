import { bytesPerSample, channelCount, samplesPerSecond } from "./sound-format.ts";

/** Half a second of sound at a time, so that a long line needs no memory. */
export const blockBytes = (samplesPerSecond / 2) * bytesPerSample;
const windowValues = (samplesPerSecond / 50) * channelCount;
const fullScale = 32_768;
const speechLevelDb = -20;
const gainDbMax = 15;
const peakDbMax = -1;
/** Below this there is nobody to be heard, and what there is stays as quiet as it is. */
const audibleDbMin = -50;
/** Pauses do not count: what is much quieter than the loudest moment is one. */
const pauseShare = 0.1;

export type LevelMeter = {
  hear(samples: Int16Array): void;
  /** The factor that brings what was heard to the level of speech, without clipping. */
  chooseGain(): number;
};

/** Brings different voices to one level. */
export function createLevelMeter(): LevelMeter {
  const powers: number[] = [];
  let peak = 0;
  let [power, count] = [0, 0];
  return {
    hear(samples) {
      for (const value of samples) {
        peak = Math.max(peak, Math.abs(value));
        power += value * value;
        count += 1;
        if (count < windowValues) continue;
        powers.push(power / count);
        [power, count] = [0, 0];
      }
    },
    chooseGain() {
      const loudest = powers.reduce((most, each) => Math.max(most, each), 0);
      const spoken = powers.filter((each) => each > loudest * pauseShare ** 2);
      const mean = spoken.reduce((sum, each) => sum + each, 0) / Math.max(1, spoken.length);
      const levelDb = toDecibels(Math.sqrt(mean) / fullScale);
      if (levelDb < audibleDbMin) return 1;
      const wantedDb = Math.min(gainDbMax, Math.max(-gainDbMax, speechLevelDb - levelDb));
      return fromDecibels(Math.min(wantedDb, peakDbMax - toDecibels(peak / fullScale)));
    },
  };
}

export function fromDecibels(decibels: number): number {
  return 10 ** (decibels / 20);
}

function toDecibels(factor: number): number {
  return 20 * Math.log10(Math.max(factor, 1e-9));
}
