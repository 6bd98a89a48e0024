const windowMs = 30;
const searchMs = 9;

/** Changes the tempo of speech without its pitch (WSOLA): overlaps windows, each where it fits the previous one best. */
export function changeTempo(samples: Int16Array, factor: number, samplesPerSecond: number): Int16Array {
  if (Math.abs(factor - 1) < 0.01) return samples;
  const size = Math.round((windowMs * samplesPerSecond) / 1000);
  const half = Math.floor(size / 2);
  const reach = Math.round((searchMs * samplesPerSecond) / 1000);
  const result = new Float32Array(Math.ceil(samples.length / factor) + size);
  let ideal = 0;
  for (let into = 0; into + size < result.length && ideal < samples.length; into += half) {
    const start = into === 0 ? 0 : findBestStart(samples, result, { into, ideal, reach, half });
    for (let at = 0; at < size; at += 1) {
      const share = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size);
      result[into + at] = (result[into + at] ?? 0) + (samples[start + at] ?? 0) * share;
    }
    ideal = Math.round((into + half) * factor);
  }
  return Int16Array.from(result.subarray(0, Math.ceil(samples.length / factor)), (value) => Math.round(value));
}

type Search = { into: number; ideal: number; reach: number; half: number };

function findBestStart(samples: Int16Array, result: Float32Array, { into, ideal, reach, half }: Search): number {
  let best = ideal;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (let shift = -reach; shift <= reach; shift += 3) {
    const start = Math.max(0, ideal + shift);
    let score = 0;
    for (let at = 0; at < half; at += 4) score += (result[into + at] ?? 0) * (samples[start + at] ?? 0);
    if (score > bestScore) [best, bestScore] = [start, score];
  }
  return best;
}
