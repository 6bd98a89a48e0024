export type JsonLimits = {
  /** `{`, `[`, `:` and `,` outside strings, which dominate the time of parsing and validation. */
  structureMax: number;
  /** Backslashes in strings: an escape costs as much as many plain characters. */
  escapesMax: number;
};

export type JsonScanner = {
  /** Scans the next bytes and returns the exceeded limit. */
  add(chunk: Buffer): keyof JsonLimits | null;
  addText(text: string): keyof JsonLimits | null;
};

const quote = 0x22;
const backslash = 0x5c;
/** Texts are encoded in slices to bound memory. */
const sliceCharacters = 64 * 1024;
/** Within a string, this many bytes are compared in JavaScript before `indexOf` takes over. Most runs are shorter. */
const shortRun = 256;

/** Outside strings: 1 for structure, 2 for the start of a string. */
const kinds = new Uint8Array(256);
for (const mark of "{[:,") kinds[mark.charCodeAt(0)] = 1;
kinds[quote] = 2;

/**
 * Counts the structure of a JSON text without parsing it: 2 ms per megabyte of structure or escapes, almost nothing for
 * long plain strings. Counts of invalid JSON are arbitrary; the parser rejects it anyway.
 */
export function createJsonScanner({ structureMax, escapesMax }: JsonLimits): JsonScanner {
  let place: Place = "outside";
  let structure = 0;
  let escapes = 0;

  function add(chunk: Buffer): keyof JsonLimits | null {
    const counted = countChunk(chunk, place);
    place = counted.place;
    structure += counted.structure;
    escapes += counted.escapes;
    if (structure > structureMax) return "structureMax";
    return escapes > escapesMax ? "escapesMax" : null;
  }

  return {
    add,
    addText(text) {
      let exceeded: keyof JsonLimits | null = null;
      for (let at = 0; at < text.length && exceeded === null; at += sliceCharacters) {
        exceeded = add(Buffer.from(text.slice(at, at + sliceCharacters)));
      }
      return exceeded;
    },
  };
}

/** Maximum total structure of JSON texts inside a body, such as tool call arguments. */
export const innerStructureMax = 40_000;
/** Counts the structure of a text that may be JSON; stops beyond the limit. */
export function countInnerStructure(text: string, structureMax = innerStructureMax): number {
  let place: Place = "outside";
  let structure = 0;
  for (let at = 0; at < text.length && structure <= structureMax; at += sliceCharacters) {
    const counted = countChunk(Buffer.from(text.slice(at, at + sliceCharacters)), place);
    place = counted.place;
    structure += counted.structure;
  }
  return structure;
}

/** The scanner's state between two chunks. */
type Place = "outside" | "in-string" | "after-backslash";

function countChunk(chunk: Buffer, from: Place): { place: Place; structure: number; escapes: number } {
  const { length } = chunk;
  let structure = 0;
  let escapes = 0;
  let isInString = from !== "outside";
  let at = from === "after-backslash" ? 1 : 0;
  // The last results of `indexOf`: searching again before they are passed would take quadratic time.
  let quoteAt = -1;
  let backslashAt = -1;
  while (at < length) {
    if (isInString) {
      const nearEnd = Math.min(length, at + shortRun);
      while (at < nearEnd && chunk[at] !== quote && chunk[at] !== backslash) at += 1;
      if (at === nearEnd && at < length) {
        if (quoteAt < at) quoteAt = findByte(chunk, quote, at);
        if (backslashAt < at) backslashAt = findByte(chunk, backslash, at);
        at = Math.min(quoteAt, backslashAt);
      }
      if (chunk[at] === quote) {
        isInString = false;
        at += 1;
      } else if (at < length) {
        escapes += 1;
        at += 2;
      }
    } else {
      const kind = kinds[chunk[at] ?? 0];
      if (kind === 2) isInString = true;
      else if (kind === 1) structure += 1;
      at += 1;
    }
  }
  // A backslash at the end of the chunk escapes the first byte of the next one.
  const place = !isInString ? "outside" : at > length ? "after-backslash" : "in-string";
  return { place, structure, escapes };
}

/** The next such byte, or the end. */
function findByte(chunk: Buffer, byte: number, from: number): number {
  const found = chunk.indexOf(byte, from);
  return found < 0 ? chunk.length : found;
}
