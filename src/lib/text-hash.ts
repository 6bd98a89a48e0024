/**
 * A fast hash (FNV-1a, 32 bits) for distribution. Not cryptographic.
 */
export function hashText(text: string, seed = offsetBasis): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash >>> 0;
}

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** Mixes two hashes (MurmurHash3 finalizer). */
export function mixHashes(one: number, other: number): number {
  let hash = one ^ Math.imul(other, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
