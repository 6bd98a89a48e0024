import { bytesPerSample, channelCount, samplesPerSecond } from "./sound-format.ts";

/** Half a second per block, so that memory use does not depend on the length. */
export const blockBytes = (samplesPerSecond / 2) * bytesPerSample;
const windowValues = (samplesPerSecond / 50) * channelCount;
const fullScale = 32_768;
const speechLevelDb = -20;
const gainDbMax = 15;
const peakDbMax = -1;
/** Quieter audio counts as silence and is not amplified. */
const audibleDbMin = -50;
/** Moments much quieter than the loudest count as pauses and are ignored. */
const pauseShare = 0.1;

export type LevelMeter = {
  add(samples: Int16Array): void;
  /** The gain that brings the added samples to speech level without clipping. */
  chooseGain(): number;
};

/** Normalizes different voices to one level. */
export function createLevelMeter(): LevelMeter {
  const powers: number[] = [];
  let peak = 0;
  let [power, count] = [0, 0];
  return {
    add(samples) {
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
