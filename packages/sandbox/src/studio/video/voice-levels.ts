import { framesPerSecond } from "./video-sizes.ts";

/** How loud speech is in each frame of a video: 0 is silence, 1 is as loud as it gets. 16 bits, one channel. */
export function measureVoice(samples: Int16Array, samplesPerSecond: number): Float32Array {
  const stride = samplesPerSecond / framesPerSecond;
  const count = Math.max(1, Math.ceil(samples.length / stride));
  const levels = new Float32Array(count);
  for (let frame = 0; frame < count; frame += 1) {
    const part = samples.subarray(Math.round(frame * stride), Math.round((frame + 1) * stride));
    const sum = part.reduce((total, value) => total + value * value, 0);
    levels[frame] = Math.sqrt(sum / Math.max(1, part.length));
  }
  const loud = levels.toSorted()[Math.floor(count * 0.95)] ?? 0;
  // Below this, what is heard is the noise of the room.
  const scale = Math.max(loud, 300);
  return levels.map((level) => Math.min(1, level / scale));
}

/** Opens at once and closes slowly, as mouths and eyes do. */
export function smoothVoice(levels: Float32Array): Float32Array {
  let value = 0;
  return levels.map((level) => {
    value += (level - value) * (level > value ? 0.75 : 0.35);
    return value;
  });
}
