/** Loudness of each part of a recording, from 0 to 1 (the loudest). */
export function measureBars(samples: Float32Array, count: number): number[] {
  const loudness = Array.from({ length: count }, (_, index) => {
    const part = samples.subarray(
      Math.floor((index * samples.length) / count),
      Math.floor(((index + 1) * samples.length) / count),
    );
    const power = part.reduce((sum, sample) => sum + sample * sample, 0);
    return part.length === 0 ? 0 : Math.sqrt(power / part.length);
  });
  const loudest = Math.max(...loudness);
  return loudness.map((each) => (loudest === 0 ? 0 : each / loudest));
}
