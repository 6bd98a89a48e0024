import { createHash } from "node:crypto";

/** A random generator with the same output for the same seed on every machine. */
export type SeededRandom = {
  /** From 0 to below 1. */
  next(): number;
  between(min: number, max: number): number;
  /** An integer, both ends included. */
  whole(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** An independent generator, so that drawing more here changes nothing there. */
  fork(name: string): SeededRandom;
};

export function createSeededRandom(seed: string): SeededRandom {
  const digest = createHash("sha256").update(seed).digest();
  // sfc32: small, fast, and without visible patterns.
  let a = digest.readUInt32LE(0);
  let b = digest.readUInt32LE(4);
  let c = digest.readUInt32LE(8);
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  const whole = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    whole,
    between: (min, max) => min + next() * (max - min),
    chance: (probability) => next() < probability,
    pick: (list) => list[whole(0, list.length - 1)] ?? list[0],
    fork: (name) => createSeededRandom(`${seed}/${name}`),
  };
}
