/**
 * A fast number for a text (FNV-1a, 32 bits), to spread things by. It keeps nothing secret, and who wants two texts with
 * the same number finds them.
 */
export function hashText(text: string, seed = offsetBasis): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash >>> 0;
}

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** Two numbers as one whose every bit depends on every bit of both (the finalizer of MurmurHash3). */
export function mixHashes(one: number, other: number): number {
  let hash = one ^ Math.imul(other, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
