import { parseColour } from "./colour.ts";
import type { Canvas, Particles } from "./scene.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Paints all particles of a moment into a frame. */
export type ParticlePainter = (frame: Uint8Array, seconds: number) => void;

type Flake = { x: number; y: number; size: number; pace: number; phase: number; opacity: number };

type Style = { size: readonly [min: number, max: number]; fall: number; sway: number; glow: number; top: number };

/** `top` is where the air begins to be full of them, as a share of the height. */
const styles: Record<Particles["kind"], Style> = {
  snow: { size: [0.25, 0.75], fall: 9, sway: 2.5, glow: 0.85, top: 0 },
  rain: { size: [0.12, 0.2], fall: 110, sway: 0, glow: 0.4, top: 0 },
  fireflies: { size: [0.3, 0.6], fall: -1.2, sway: 5, glow: 0.95, top: 0.62 },
  petals: { size: [0.3, 0.6], fall: 5, sway: 6, glow: 0.85, top: 0.25 },
  dust: { size: [0.1, 0.26], fall: -0.8, sway: 3, glow: 0.4, top: 0 },
};

/** Small things in the air. Where each is follows from the time alone, so that any frame can be drawn by itself. */
export function createParticlePainter(particles: Particles, canvas: Canvas, random: SeededRandom): ParticlePainter {
  const { size, fall, sway, glow, top } = styles[particles.kind];
  const colour = parseColour(particles.colour);
  const { width, height, unit } = canvas;
  const ceiling = height * top;
  const flakes = Array.from(
    { length: particles.count },
    (): Flake => ({
      x: random.next() * width,
      y: random.next() * height,
      size: random.between(size[0], size[1]) * unit,
      pace: random.between(0.6, 1.4),
      phase: random.between(0, 2 * Math.PI),
      opacity: random.between(0.4, 1) * glow,
    }),
  );
  const isRain = particles.kind === "rain";
  const blinks = particles.kind === "fireflies" || particles.kind === "dust";
  return (frame, seconds) => {
    for (const { x, y, size: radius, pace, phase, opacity } of flakes) {
      const down = ceiling + wrap(y + fall * unit * pace * seconds, height - ceiling);
      const across = wrap(
        x + Math.sin(seconds * pace * 0.9 + phase) * sway * unit + (isRain ? -seconds * unit * 14 : 0),
        width,
      );
      const light = blinks ? opacity * (0.35 + 0.65 * (0.5 + 0.5 * Math.sin(seconds * pace * 2.2 + phase))) : opacity;
      if (isRain) {
        for (let step = 0; step < 9; step += 1) {
          paintDot(
            frame,
            canvas,
            {
              x: across - step * unit * 0.045,
              y: down + step * unit * 0.36,
              radius: radius * 1.6,
              opacity: light * 0.5,
            },
            colour,
          );
        }
      } else
        paintDot(frame, canvas, { x: across, y: down, radius: radius * (blinks ? 2 : 1.3), opacity: light }, colour);
    }
  };
}

function wrap(value: number, length: number): number {
  return ((value % length) + length) % length;
}

type Dot = { x: number; y: number; radius: number; opacity: number };

function paintDot(
  frame: Uint8Array,
  { width, height }: Canvas,
  { x, y, radius, opacity }: Dot,
  colour: readonly number[],
): void {
  const reach = Math.ceil(radius);
  for (let row = Math.max(0, Math.floor(y) - reach); row <= Math.min(height - 1, Math.floor(y) + reach); row += 1) {
    for (
      let column = Math.max(0, Math.floor(x) - reach);
      column <= Math.min(width - 1, Math.floor(x) + reach);
      column += 1
    ) {
      const away = Math.hypot(column - x, row - y) / radius;
      if (away >= 1) continue;
      const share = opacity * (1 - away * away);
      const at = (row * width + column) * 4;
      for (let channel = 0; channel < 3; channel += 1) {
        const here = frame[at + channel] ?? 0;
        frame[at + channel] = here + ((colour[channel] ?? 0) - here) * share;
      }
    }
  }
}
