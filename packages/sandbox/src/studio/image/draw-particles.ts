import type { SeededRandom } from "../../seeded-random.ts";
import { parseColour } from "../scenes/colour.ts";
import type { Canvas, Particles } from "../scenes/scene.ts";
import { type PlanarFrame, toPlanes } from "../video/planar-frame.ts";

/** Draws all particles of a moment into an RGBA frame. */
export type ParticlePainter = (frame: Uint8Array, seconds: number) => void;

/** The positions of the particles at a moment, in pixels. */
type ParticleFinder = (seconds: number) => Dot[];

type Flake = { x: number; y: number; size: number; pace: number; phase: number; opacity: number };

type Style = { size: readonly [min: number, max: number]; fall: number; sway: number; glow: number; top: number };

/** `top` is where the particles start, as a share of the height. */
const styles: Record<Particles["kind"], Style> = {
  snow: { size: [0.25, 0.75], fall: 9, sway: 2.5, glow: 0.85, top: 0 },
  rain: { size: [0.12, 0.2], fall: 110, sway: 0, glow: 0.4, top: 0 },
  fireflies: { size: [0.3, 0.6], fall: -1.2, sway: 5, glow: 0.95, top: 0.62 },
  petals: { size: [0.3, 0.6], fall: 5, sway: 6, glow: 0.85, top: 0.25 },
  dust: { size: [0.1, 0.26], fall: -0.8, sway: 3, glow: 0.4, top: 0 },
};

export function createParticlePainter(particles: Particles, canvas: Canvas, random: SeededRandom): ParticlePainter {
  const find = createParticleFinder(particles, canvas, random);
  const { width, height } = canvas;
  const colour = parseColour(particles.colour);
  return (frame, seconds) => {
    for (const dot of find(seconds)) paintDot({ width, height, pixelBytes: 4, values: frame }, dot, colour);
  };
}

/** The same for planar frames. */
export function createPlanarParticles(
  particles: Particles,
  canvas: Canvas,
  random: SeededRandom,
): (frame: PlanarFrame, seconds: number) => void {
  const find = createParticleFinder(particles, canvas, random);
  const colour = toPlanes(parseColour(particles.colour));
  return ({ planes }, seconds) => {
    for (const { x, y, radius, opacity } of find(seconds)) {
      for (const [index, { width, height, scale, values }] of planes.entries()) {
        const dot = { x: x / scale, y: y / scale, radius: radius / scale, opacity };
        paintDot({ width, height, pixelBytes: 1, values }, dot, [colour[index] ?? 0]);
      }
    }
  };
}

/** Small things in the air. Positions depend only on the time, so that any frame can be drawn alone. */
function createParticleFinder(particles: Particles, canvas: Canvas, random: SeededRandom): ParticleFinder {
  const { size, fall, sway, glow, top } = styles[particles.kind];
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
  return (seconds) =>
    flakes.flatMap(({ x, y, size: radius, pace, phase, opacity }) => {
      const down = ceiling + wrap(y + fall * unit * pace * seconds, height - ceiling);
      const across = wrap(
        x + Math.sin(seconds * pace * 0.9 + phase) * sway * unit + (isRain ? -seconds * unit * 14 : 0),
        width,
      );
      const light = blinks ? opacity * (0.35 + 0.65 * (0.5 + 0.5 * Math.sin(seconds * pace * 2.2 + phase))) : opacity;
      if (!isRain) return [{ x: across, y: down, radius: radius * (blinks ? 2 : 1.3), opacity: light }];
      return Array.from({ length: 9 }, (_, step) => ({
        x: across - step * unit * 0.045,
        y: down + step * unit * 0.36,
        radius: radius * 1.6,
        opacity: light * 0.5,
      }));
    });
}

function wrap(value: number, length: number): number {
  return ((value % length) + length) % length;
}

type Dot = { x: number; y: number; radius: number; opacity: number };

type Surface = { width: number; height: number; pixelBytes: number; values: Uint8Array };

function paintDot(surface: Surface, { x, y, radius, opacity }: Dot, colour: readonly number[]): void {
  const { width, height, pixelBytes, values } = surface;
  const reach = Math.ceil(radius);
  const [top, bottom] = [Math.max(0, Math.floor(y) - reach), Math.min(height - 1, Math.floor(y) + reach)];
  const [left, right] = [Math.max(0, Math.floor(x) - reach), Math.min(width - 1, Math.floor(x) + reach)];
  for (let row = top; row <= bottom; row += 1) {
    for (let column = left; column <= right; column += 1) {
      const away = Math.sqrt((column - x) ** 2 + (row - y) ** 2) / radius;
      if (away >= 1) continue;
      const share = opacity * (1 - away * away);
      const at = (row * width + column) * pixelBytes;
      for (let channel = 0; channel < colour.length; channel += 1) {
        const here = values[at + channel] ?? 0;
        values[at + channel] = here + ((colour[channel] ?? 0) - here) * share;
      }
    }
  }
}
