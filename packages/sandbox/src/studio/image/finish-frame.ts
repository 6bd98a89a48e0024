import type { SeededRandom } from "../../seeded-random.ts";
import type { Canvas } from "../scenes/scene.ts";

/** Changes a frame in place: darker corners and film grain, which also hides banding in the sky. */
export type FrameFinisher = (frame: Uint8Array) => void;

const fullShare = 256;

export function createFrameFinisher(
  { width, height }: Canvas,
  { grain, vignette, random }: { grain: number; vignette: number; random: SeededRandom },
): FrameFinisher {
  const shares = new Uint16Array(width * height);
  const noises = new Int8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const down = (y / height - 0.5) * 2;
    for (let x = 0; x < width; x += 1) {
      const across = (x / width - 0.5) * 2;
      const away = Math.max(0, Math.sqrt(across * across + down * down) - 0.55);
      shares[y * width + x] = fullShare - Math.round(fullShare * vignette * away * away);
      // Two halves of one random number are enough, for half of the work.
      const chance = random.next() * 65_536;
      noises[y * width + x] = Math.round((chance / 65_536 + (chance % 1) - 1) * grain);
    }
  }
  return (frame) => {
    for (let pixel = 0, at = 0; pixel < shares.length; pixel += 1, at += 4) {
      const share = shares[pixel] as number;
      const noise = noises[pixel] as number;
      for (let channel = at; channel < at + 3; channel += 1) {
        const value = (((frame[channel] as number) * share) >> 8) + noise;
        frame[channel] = value < 0 ? 0 : value > 255 ? 255 : value;
      }
    }
  };
}
