const frameSeconds = 0.02;

export type SpeechAnalysis = {
  seconds: number;
  /** The average loudness in dBFS. */
  levelDb: number;
  /** The share of frames with any sound. */
  heardShare: number;
  /** The share of those with a voice: they are periodic, as only vocal cords are. */
  voicedShare: number;
  /** The median pitch of all voiced frames. */
  pitchHz: number;
};

/** Properties of speech that do not require understanding it. */
export function analyseSpeech(samples: Int16Array, samplesPerSecond = 24_000): SpeechAnalysis {
  const size = Math.round(samplesPerSecond * frameSeconds);
  const frames = Array.from({ length: Math.floor(samples.length / size) - 1 }, (_, index) => ({
    // Two frames long, so that the lowest voice has a full period.
    part: samples.subarray(index * size, (index + 2) * size),
    loudness: measureLoudness(samples.subarray(index * size, (index + 1) * size)),
  }));
  const heard = frames.filter(({ loudness }) => loudness > 400);
  const pitches = heard.map(({ part }) => findPitch(part, samplesPerSecond)).filter((pitch) => pitch !== null);
  return {
    seconds: samples.length / samplesPerSecond,
    levelDb: 20 * Math.log10(measureLoudness(samples) / 32_768),
    heardShare: heard.length / Math.max(1, frames.length),
    voicedShare: pitches.length / Math.max(1, heard.length),
    pitchHz: pitches.toSorted((one, other) => one - other)[Math.floor(pitches.length / 2)] ?? 0,
  };
}

function measureLoudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / Math.max(1, samples.length));
}

/** The shift with the highest autocorrelation; `null` if there is none. */
function findPitch(samples: Int16Array, samplesPerSecond: number): number | null {
  const size = samples.length / 2;
  let [best, bestLikeness] = [0, 0];
  for (let shift = Math.floor(samplesPerSecond / 400); shift <= Math.min(size, samplesPerSecond / 60); shift += 1) {
    let [product, own, other] = [0, 0, 0];
    for (let at = 0; at < size; at += 1) {
      const [here, there] = [samples[at] ?? 0, samples[at + shift] ?? 0];
      product += here * there;
      own += here * here;
      other += there * there;
    }
    const likeness = product / Math.max(1, Math.sqrt(own * other));
    if (likeness > bestLikeness + 0.02) [best, bestLikeness] = [shift, likeness];
  }
  return bestLikeness > 0.7 ? samplesPerSecond / best : null;
}
