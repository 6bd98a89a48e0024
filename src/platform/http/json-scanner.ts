import type { JsonLimits } from "../../lib/json-cursor.ts";
import type { JsonOutline } from "../../lib/json-text.ts";

export type JsonScanner = {
  /** Scans the next bytes and returns the exceeded limit. */
  add(chunk: Buffer): keyof JsonLimits | null;
  addText(text: string): keyof JsonLimits | null;
  /** The outline of the object that was scanned; `null` if it has very many fields. */
  outline(): JsonOutline | null;
};

const quote = 0x22;
const backslash = 0x5c;
/** Texts are encoded in slices to bound memory. */
const sliceCharacters = 64 * 1024;
/** Within a string, this many bytes are compared in JavaScript before `indexOf` takes over. Most runs are shorter. */
const shortRun = 256;
/** Marks of an outline: an object with more than half as many fields has none. */
const marksMax = 256;

/** What a byte means outside strings. */
const plain = 0;
const opening = 1;
const closing = 2;
const comma = 3;
const colon = 4;
const stringStart = 5;
const kinds = new Uint8Array(256);
for (const [marks, kind] of [
  ["{[", opening],
  ["}]", closing],
  [",", comma],
  [":", colon],
  ['"', stringStart],
] as const) {
  for (const mark of marks) kinds[mark.charCodeAt(0)] = kind;
}

/**
 * Counts the structure of a JSON text without parsing it: 2 ms per megabyte of structure or escapes, almost nothing for
 * long plain strings. Counts of invalid JSON are arbitrary; the parser rejects it anyway.
 */
export function createJsonScanner({ structureMax, escapesMax }: JsonLimits): JsonScanner {
  const count = new StructureCount();

  function add(chunk: Buffer): keyof JsonLimits | null {
    count.add(chunk);
    if (count.structure > structureMax) return "structureMax";
    return count.escapes > escapesMax ? "escapesMax" : null;
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
    outline: () => count.outline(),
  };
}

/** Maximum total structure of JSON texts inside a body, such as tool call arguments. */
export const innerStructureMax = 40_000;
/** Counts the structure of a text that may be JSON; stops beyond the limit. */
export function countInnerStructure(text: string, structureMax = innerStructureMax): number {
  const count = new StructureCount();
  for (let at = 0; at < text.length && count.structure <= structureMax; at += sliceCharacters) {
    count.add(Buffer.from(text.slice(at, at + sliceCharacters)));
  }
  return count.structure;
}

/** The scanner's state between two chunks. */
type Place = "outside" | "in-string" | "after-backslash";

/** What was counted so far. */
class StructureCount {
  structure = 0;
  escapes = 0;
  private names = 0;
  private depth = 0;
  private bytes = 0;
  private place: Place = "outside";
  private readonly marks: number[] = [];

  outline(): JsonOutline | null {
    const { marks, names } = this;
    return marks.length > marksMax ? null : { marks, names };
  }

  /** One loop over local variables: it visits every byte of most bodies. */
  add(chunk: Buffer): void {
    const { marks, bytes } = this;
    const { length } = chunk;
    let { structure, escapes, names, depth } = this;
    let isInString = this.place !== "outside";
    let at = this.place === "after-backslash" ? 1 : 0;
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
        if (kind === stringStart) isInString = true;
        else if (kind !== plain) {
          if (kind === opening) depth += 1;
          else if (kind === colon) names += 1;
          if (depth === 1 && marks.length <= marksMax) marks.push(bytes + at);
          if (kind === closing) depth -= 1;
          else structure += 1;
        }
        at += 1;
      }
    }
    // A backslash at the end of the chunk escapes the first byte of the next one.
    this.place = !isInString ? "outside" : at > length ? "after-backslash" : "in-string";
    this.bytes += length;
    Object.assign(this, { structure, escapes, names, depth });
  }
}

/** The next such byte, or the end. */
function findByte(chunk: Buffer, byte: number, from: number): number {
  const found = chunk.indexOf(byte, from);
  return found < 0 ? chunk.length : found;
}
