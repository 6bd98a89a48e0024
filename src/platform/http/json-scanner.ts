/** What is counted of a JSON text while it arrives. */
export type JsonLimits = {
  /** `{`, `[`, `:` and `,` outside of strings: what parsing and checking take their time for. */
  structureMax: number;
  /** Backslashes in strings: an escape takes longer to read and to write than many plain characters. */
  escapesMax: number;
};

export type JsonScanner = {
  /** Looks at the next bytes; answers which limit has been exceeded. */
  add(chunk: Buffer): keyof JsonLimits | null;
  /** The same for a text that is there already. */
  addText(text: string): keyof JsonLimits | null;
};

const quote = 0x22;
const backslash = 0x5c;
/** A text becomes bytes slice by slice, and never as a whole. */
const sliceCharacters = 64 * 1024;
/** In a string, so many bytes are looked at one by one before its end is searched for. */
const shortString = 16;

/** What a byte outside of a string is: 1 for what begins or divides something, 2 for a string. */
const kinds = new Uint8Array(256);
for (const mark of "{[:,") kinds[mark.charCodeAt(0)] = 1;
kinds[quote] = 2;

/**
 * Counts the structure of a JSON text without parsing it: 2 ms for each megabyte of structure or escapes, and nothing to
 * speak of for long plain strings. What is no JSON it counts somehow: the parser will refuse it.
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

/** As much structure as texts inside of a body may have together that are to be parsed, too, such as a call's arguments. */
export const innerStructureMax = 40_000;
/** Counts the structure of a text that may be JSON, and stops when it is more than may be parsed in one go. */
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

/** Where a chunk ends, and the next one begins. */
type Place = "outside" | "in-string" | "after-backslash";

function countChunk(chunk: Buffer, from: Place): { place: Place; structure: number; escapes: number } {
  const marks = createMarkFinder(chunk);
  const { length } = chunk;
  let structure = 0;
  let escapes = 0;
  let isInString = from !== "outside";
  let at = from === "after-backslash" ? 1 : 0;
  while (at < length) {
    if (isInString) {
      at = marks.find(at);
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
  // A backslash that ends the chunk takes the first byte of the next one with it.
  const place = !isInString ? "outside" : at > length ? "after-backslash" : "in-string";
  return { place, structure, escapes };
}

/**
 * Finds the next quote or backslash, or the end. Most strings are short; in long ones the search is the machine's, and
 * what it found of the one is kept while it finds many of the other.
 */
function createMarkFinder(chunk: Buffer): { find(from: number): number } {
  let quoteAt = -1;
  let backslashAt = -1;
  const search = (mark: number, from: number): number => {
    const found = chunk.indexOf(mark, from);
    return found < 0 ? chunk.length : found;
  };
  return {
    find(from) {
      const nearEnd = Math.min(chunk.length, from + shortString);
      for (let at = from; at < nearEnd; at += 1) if (chunk[at] === quote || chunk[at] === backslash) return at;
      if (quoteAt < nearEnd) quoteAt = search(quote, nearEnd);
      if (backslashAt < nearEnd) backslashAt = search(backslash, nearEnd);
      return Math.min(quoteAt, backslashAt);
    },
  };
}
