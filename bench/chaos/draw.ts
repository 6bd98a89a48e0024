import { createHash } from "node:crypto";

/**
 * A number from 0 up to, but not including, `below`, determined by the seed and the name. A caller's draws do not
 * depend on earlier draws of others, so a run can be replayed with any interleaving.
 */
export function draw(seed: number, what: string, below: number): number {
  return createHash("sha256").update(`${seed}/${what}`).digest().readUInt32BE(0) % below;
}

export function pick<T>(seed: number, what: string, list: readonly [T, ...T[]]): T {
  return list[draw(seed, what, list.length)] ?? list[0];
}

/** All of them, in a random order. */
export function shuffle<T>(seed: number, what: string, list: readonly T[]): T[] {
  const ranked = list.map((item, index) => ({ item, rank: draw(seed, `${what}/${index}`, 2 ** 32) }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ item }) => item);
}
