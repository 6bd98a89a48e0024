const reach = 12;

/** Speech at another number of samples a second: each is computed from its neighbours as if the sound were continuous. */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples;
  const length = Math.floor((samples.length * to) / from);
  // What the new rate cannot carry is filtered away.
  const cutoff = Math.min(1, to / from);
  const result = new Int16Array(length);
  for (let index = 0; index < length; index += 1) {
    const place = (index * from) / to;
    const middle = Math.floor(place);
    let sum = 0;
    for (let at = middle - reach + 1; at <= middle + reach; at += 1) {
      const away = place - at;
      const bell = 0.5 + 0.5 * Math.cos((Math.PI * away) / reach);
      sum += (samples[at] ?? 0) * cutoff * sinc(away * cutoff) * bell;
    }
    result[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return result;
}

function sinc(value: number): number {
  return value === 0 ? 1 : Math.sin(Math.PI * value) / (Math.PI * value);
}
