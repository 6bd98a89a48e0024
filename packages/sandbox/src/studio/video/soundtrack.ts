import type { SeededRandom } from "../../seeded-random.ts";
import type { SceneSound } from "../scenes/scene.ts";

export const soundRate = 44_100;

const chordSeconds = 4;
type Chord = readonly number[];
/** Semitones above the root. */
const progressions: readonly [readonly [Chord, ...Chord[]], ...(readonly [Chord, ...Chord[]])[]] = [
  [
    [0, 7, 16, 23],
    [-4, 8, 15, 19],
    [-7, 5, 12, 21],
    [-5, 7, 14, 19],
  ],
  [
    [0, 7, 14, 15],
    [-4, 3, 12, 19],
    [3, 10, 15, 22],
    [-2, 5, 14, 17],
  ],
  [
    [0, 7, 12, 16],
    [-3, 4, 12, 19],
    [-7, 5, 9, 16],
    [-5, 2, 11, 19],
  ],
];
/** The loudness of ambience alone: about 20 dB below speech. */
const ambienceLoudness = 0.3;
const bellScale = [12, 14, 16, 19, 21, 24, 26, 28];
/** The level, brightness (the share of each sample that is new) and swell length of each ambience. */
const noises: Record<SceneSound, { level: number; brightness: number; swellSeconds: number }> = {
  wind: { level: 0.1, brightness: 0.035, swellSeconds: 5 },
  surf: { level: 0.24, brightness: 0.09, swellSeconds: 4 },
  city: { level: 0.07, brightness: 0.02, swellSeconds: 9 },
  crickets: { level: 0.03, brightness: 0.05, swellSeconds: 7 },
  rain: { level: 0.14, brightness: 0.5, swellSeconds: 11 },
  air: { level: 0.035, brightness: 0.03, swellSeconds: 8 },
};

export type SoundtrackPlan = {
  seconds: number;
  sound: SceneSound;
  /** Without music, only ambience, quiet enough for speech over it. */
  hasMusic: boolean;
};

/** Quiet music over the ambience, stereo, 16 bits, exactly as long as requested. */
export function composeSoundtrack({ seconds, sound, hasMusic }: SoundtrackPlan, random: SeededRandom): Buffer {
  const length = Math.round(seconds * soundRate);
  const [left, right] = [new Float32Array(length), new Float32Array(length)];
  const root = 110 * 2 ** (random.whole(-4, 5) / 12);
  if (hasMusic) {
    playPads(left, right, root, random.fork("pads"));
    playBells(left, right, root, random.fork("bells"));
    addEcho(left, right);
  }
  blowNoise(left, right, sound, random.fork("noise"));
  return toBytes(left, right, { seconds, loudness: hasMusic ? 0.7 / findPeak(left, right) : ambienceLoudness });
}

function playPads(left: Float32Array, right: Float32Array, root: number, random: SeededRandom): void {
  const chords = random.pick(progressions);
  for (let index = 0; index * chordSeconds * soundRate < left.length; index += 1) {
    const chord = chords[index % chords.length] ?? chords[0];
    const start = Math.round(index * chordSeconds * soundRate);
    for (const semitones of chord) {
      for (const detune of [-0.0022, 0.0022]) {
        playPadNote(
          detune < 0 ? left : right,
          start,
          root * 2 ** (semitones / 12) * (1 + detune),
          random.between(0, 6),
        );
      }
    }
  }
}

/** Fades in and out over one and a half chords, so that chords overlap. */
function playPadNote(track: Float32Array, start: number, frequency: number, phase: number): void {
  const length = Math.round(chordSeconds * 1.5 * soundRate);
  const step = (2 * Math.PI * frequency) / soundRate;
  const end = Math.min(track.length, start + length);
  for (let at = start; at < end; at += 1) {
    const share = (at - start) / length;
    const swell = Math.sin(Math.PI * Math.min(1, share * 1.02)) ** 1.2;
    const turn = step * (at - start) + phase;
    const tone = Math.sin(turn) + 0.32 * Math.sin(2 * turn) + 0.1 * Math.sin(3 * turn);
    track[at] = (track[at] ?? 0) + tone * swell * 0.055;
  }
}

function playBells(left: Float32Array, right: Float32Array, root: number, random: SeededRandom): void {
  for (let second = random.between(0.3, 0.9); second * soundRate < left.length; second += random.between(0.45, 1.4)) {
    const semitones = bellScale[random.whole(0, bellScale.length - 1)] ?? 12;
    const frequency = root * 2 * 2 ** (semitones / 12);
    const place = random.next();
    const start = Math.round(second * soundRate);
    const end = Math.min(left.length, start + soundRate * 2);
    for (let at = start; at < end; at += 1) {
      const age = (at - start) / soundRate;
      const turn = 2 * Math.PI * frequency * age;
      const tone = (Math.sin(turn) + 0.4 * Math.sin(2.76 * turn) * Math.exp(-6 * age)) * Math.exp(-2.6 * age) * 0.07;
      const struck = tone * Math.min(1, age * 200);
      left[at] = (left[at] ?? 0) + struck * (1 - place);
      right[at] = (right[at] ?? 0) + struck * place;
    }
  }
}

/** Two delays that feed each other simulate a room. */
function addEcho(left: Float32Array, right: Float32Array): void {
  const [short, long] = [Math.round(0.277 * soundRate), Math.round(0.391 * soundRate)];
  for (let at = long; at < left.length; at += 1) {
    left[at] = (left[at] ?? 0) + 0.33 * (right[at - short] ?? 0);
    right[at] = (right[at] ?? 0) + 0.33 * (left[at - long] ?? 0);
  }
}

function blowNoise(left: Float32Array, right: Float32Array, sound: SceneSound, random: SeededRandom): void {
  const { level, brightness, swellSeconds } = noises[sound];
  // Compensates for the loss of loudness by the filter.
  const gain = (level * 1.6) / Math.sqrt(brightness);
  const phase = random.between(0, 2 * Math.PI);
  for (const track of [left, right]) {
    let value = 0;
    for (let at = 0; at < track.length; at += 1) {
      value += (random.next() * 2 - 1 - value) * brightness;
      const swell = 0.5 + 0.5 * Math.sin((at / soundRate / swellSeconds) * 2 * Math.PI + phase);
      const chirp = sound === "crickets" ? chirpAt(at / soundRate) : 0;
      track[at] = (track[at] ?? 0) + value * gain * (0.25 + 0.75 * swell * swell) + chirp;
    }
  }
}

function chirpAt(second: number): number {
  const within = second % 1.1;
  const pulse = within < 0.32 ? Math.max(0, Math.sin(within * 2 * Math.PI * 14)) : 0;
  return Math.sin(2 * Math.PI * 4300 * second) * pulse * 0.012;
}

function findPeak(left: Float32Array, right: Float32Array): number {
  const peaks = [left, right].map((track) => track.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
  return Math.max(0.05, ...peaks);
}

type Mastering = { seconds: number; loudness: number };

/** Limits and fades in and out. */
function toBytes(left: Float32Array, right: Float32Array, { seconds, loudness }: Mastering): Buffer {
  const samples = new Int16Array(left.length * 2);
  for (let at = 0; at < left.length; at += 1) {
    const now = at / soundRate;
    const fade = Math.min(1, now / 0.25, (seconds - now) / Math.min(1, seconds / 4));
    const gain = Math.max(0, fade) * loudness * 32_767;
    samples[at * 2] = Math.max(-32_767, Math.min(32_767, Math.round((left[at] ?? 0) * gain)));
    samples[at * 2 + 1] = Math.max(-32_767, Math.min(32_767, Math.round((right[at] ?? 0) * gain)));
  }
  return Buffer.from(samples.buffer);
}
