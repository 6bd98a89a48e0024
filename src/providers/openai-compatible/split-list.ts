import { createBadAnswer } from "./outlet.ts";

/** Splits a JSON response as it arrives: the objects of its list one by one, and the text around them. */
export type ListSplitter = {
  /** The objects that this chunk completes. */
  add(chunk: Buffer): Buffer[];
  /** Everything except the objects, as JSON with an empty list. */
  envelope(): string;
};

const quote = 0x22;
const backslash = 0x5c;
const openingList = 0x5b;
const opens = 1;
const closes = 2;
const quotes = 3;
/** What a byte outside a string does. */
const kinds = new Uint8Array(256);
for (const mark of "[{") kinds[mark.charCodeAt(0)] = opens;
for (const mark of "]}") kinds[mark.charCodeAt(0)] = closes;
kinds[quote] = quotes;
/** The depth of the response object's list, and of an object in it. */
const listDepth = 2;
const itemDepth = 3;
const envelopeBytesMax = 64 * 1024;
/** More than any vector has: 65,536 numbers of 32 characters. */
const vectorBytesMax = 2 * 1024 * 1024;

/**
 * A list of vectors may have a hundred megabytes: parsing it at once would block the event loop for a second. This only
 * splits; the parser of the parts checks that they are JSON.
 */
export function createListSplitter({ itemBytesMax = vectorBytesMax } = {}): ListSplitter {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isInList = false;
  let item: Buffer[] = [];
  let itemBytes = 0;
  const around: Buffer[] = [];
  let aroundBytes = 0;

  function keep(chunk: Buffer, from: number, to: number): void {
    if (to <= from) return;
    const bytes = chunk.subarray(from, to);
    if (isInList && depth >= itemDepth) {
      itemBytes += bytes.length;
      if (itemBytes > itemBytesMax) throw createBadAnswer("An object in the response's list is too large.");
      item.push(bytes);
    }
    // Between the objects of the list there are only commas.
    else if (!(isInList && depth === listDepth)) {
      aroundBytes += bytes.length;
      if (aroundBytes > envelopeBytesMax) throw createBadAnswer("The response is too large outside its list.");
      around.push(Buffer.from(bytes));
    }
  }

  /** The position after the open string, or the end of the chunk. */
  function skipString(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      if (isEscaped) isEscaped = false;
      else if (chunk[at] === backslash) isEscaped = true;
      else if (chunk[at] === quote) {
        isInString = false;
        return at + 1;
      }
    }
    return chunk.length;
  }

  return {
    add(chunk) {
      const items: Buffer[] = [];
      let from = 0;
      let at = 0;
      while (at < chunk.length) {
        if (isInString) {
          at = skipString(chunk, at);
          continue;
        }
        const byte = chunk[at] ?? 0;
        const kind = kinds[byte];
        if (kind === quotes) isInString = true;
        else if (kind === opens) {
          // The list's bracket belongs to the envelope, an object's bracket to the object.
          const isItem = isInList && depth === listDepth;
          keep(chunk, from, isItem ? at : at + 1);
          from = isItem ? at : at + 1;
          if (depth === listDepth - 1) isInList = byte === openingList;
          depth += 1;
        } else if (kind === closes) {
          const isItem = isInList && depth === itemDepth;
          keep(chunk, from, isItem ? at + 1 : at);
          from = isItem ? at + 1 : at;
          if (isItem) {
            items.push(Buffer.concat(item));
            item = [];
            itemBytes = 0;
          }
          depth -= 1;
          if (depth < listDepth) isInList = false;
        }
        at += 1;
      }
      keep(chunk, from, chunk.length);
      return items;
    },
    envelope: () => Buffer.concat(around).toString("utf8"),
  };
}
