import { conceptCount, listConcepts } from "./concepts.ts";
import { stemWord } from "./stem-word.ts";

/** The length of a vector, unless a shorter one is requested. */
export const dimensionsMax = 512;

/** Function words, which say little about the topic. */
const smallWords: ReadonlySet<string> = new Set(
  (
    "a an the and or but if of to in on at by for with from as is am are was were be been being do does did have has had " +
    "i you he she it we they me him her us them my your his its our their this that these those there here what which " +
    "who whom how when where why can could will would shall should may might must not no yes so than then too very just " +
    "up down out over under again about into some any all each every"
  ).split(" "),
);
const wordPattern = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu;

/** The weight of each type of feature. Word meanings weigh most; letters help with new or misspelt words. */
const weights = { word: 1, smallWord: 0.1, concept: 1.4, letters: 0.6, pair: 0.25 } as const;
const lettersPerPart = 3;
/** The number of positions in the vector that a feature affects. */
const placesPerFeature = 12;
const valueDigits = 1e7;

/** A feature with its weight and count. `place` is `null` if its positions are derived from its name. */
type Feature = { place: number | null; weight: number; count: number };

/** A unit vector, the same for the same text on every machine. */
export function embedText(text: string, dimensions: number): number[] {
  const features = new Map<string, Feature>();
  let before = "";
  for (const [word] of text.normalize("NFKC").toLowerCase().matchAll(wordPattern)) {
    if (smallWords.has(word)) {
      note(features, `word ${word}`, weights.smallWord);
      continue;
    }
    const stem = stemWord(word);
    note(features, `word ${stem}`, weights.word);
    const concepts = listConcepts(stem);
    for (const place of concepts) note(features, `group ${place}`, weights.concept / Math.sqrt(concepts.length), place);
    const parts = listParts(word);
    for (const part of parts) note(features, `part ${part}`, weights.letters / Math.sqrt(parts.length));
    if (before !== "") note(features, `pair ${before} ${stem}`, weights.pair);
    before = stem;
  }
  return project(features, dimensions);
}

/** Token ids of an unknown vocabulary: lists with common ids are similar. */
export function embedTokens(tokens: readonly number[], dimensions: number): number[] {
  const features = new Map<string, Feature>();
  for (const token of tokens) note(features, `token ${token}`, weights.word);
  return project(features, dimensions);
}

function note(features: Map<string, Feature>, name: string, weight: number, place: number | null = null): void {
  const known = features.get(name);
  if (known === undefined) features.set(name, { place, weight, count: 1 });
  else known.count += 1;
}

function listParts(word: string): string[] {
  const bounded = `<${word}>`;
  const count = Math.max(1, bounded.length - lettersPerPart + 1);
  return Array.from({ length: count }, (_, at) => bounded.slice(at, at + lettersPerPart));
}

/**
 * Each concept has its own position. Every other feature adds to some positions after these, derived from its name; in
 * a shorter vector they share positions. Repetition counts little.
 */
function project(features: ReadonlyMap<string, Feature>, dimensions: number): number[] {
  const sum = new Float64Array(dimensions);
  const from = dimensions < 2 * conceptCount ? 0 : conceptCount;
  for (const [name, { place, weight, count }] of features) {
    const value = weight * Math.sqrt(count);
    if (place === null) scatter(sum, { name, value: value / Math.sqrt(placesPerFeature), from });
    else sum[place % dimensions] = (sum[place % dimensions] ?? 0) + value;
  }
  const length = Math.hypot(...sum);
  if (length === 0) return Array.from(sum, (_, index) => (index === 0 ? 1 : 0));
  return Array.from(sum, (value) => Math.round((value / length) * valueDigits) / valueDigits);
}

function scatter(sum: Float64Array, { name, value, from }: { name: string; value: number; from: number }): void {
  let state = hashName(name);
  for (let round = 0; round < placesPerFeature; round += 1) {
    state = mix(state + 0x9e3779b9);
    const at = from + ((state >>> 1) % (sum.length - from));
    sum[at] = (sum[at] ?? 0) + (state % 2 === 0 ? value : -value);
  }
}

/** FNV-1a. */
function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return mix(hash >>> 0);
}

/** Spreads every bit over all of them. */
function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
