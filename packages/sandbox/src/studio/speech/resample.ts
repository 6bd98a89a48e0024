const reach = 12;

/** Resamples speech with a windowed sinc filter. */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples;
  const length = Math.floor((samples.length * to) / from);
  // The fractional positions repeat, so the weights are computed once for each.
  const phaseCount = to / findCommonDivisor(from, to);
  const weights = Array.from({ length: phaseCount }, (_, phase) => weighNeighbours((phase * from) / to, from, to));
  const result = new Int16Array(length);
  for (let index = 0; index < length; index += 1) {
    const first = Math.floor((index * from) / to) - reach + 1;
    const shares = weights[index % phaseCount] ?? [];
    let sum = 0;
    for (let tap = 0; tap < 2 * reach; tap += 1) sum += (samples[first + tap] ?? 0) * (shares[tap] ?? 0);
    result[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return result;
}

function weighNeighbours(place: number, from: number, to: number): Float64Array {
  // Filters frequencies above the new Nyquist limit.
  const cutoff = Math.min(1, to / from);
  const share = place - Math.floor(place);
  return Float64Array.from({ length: 2 * reach }, (_, tap) => {
    const away = share - (tap - reach + 1);
    return cutoff * sinc(away * cutoff) * (0.5 + 0.5 * Math.cos((Math.PI * away) / reach));
  });
}

function findCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : findCommonDivisor(other, one % other);
}

function sinc(value: number): number {
  return value === 0 ? 1 : Math.sin(Math.PI * value) / (Math.PI * value);
}
