/** Thrown for JSON that is invalid, or only unusual: the parser then reads it, and says what is wrong. */
class OddJson extends Error {}
/** Made once, since its stack is never read. */
const odd = new OddJson("unusual JSON");

/** Names that are told apart by their bytes. */
type WordTable = { words: readonly Uint8Array[]; slots: Int16Array };

const slotsMax = 256;

export function createWordTable(words: readonly string[]): WordTable {
  const table: WordTable = { words: words.map((word) => Buffer.from(word)), slots: new Int16Array(slotsMax).fill(-1) };
  for (const [index, word] of table.words.entries()) {
    let hash = hashSeed;
    for (const byte of word) hash = addToHash(hash, byte);
    let slot = chooseSlot(hash);
    while (table.slots[slot] !== -1) slot = nextSlot(slot);
    table.slots[slot] = index;
  }
  return table;
}

const hashSeed = 17;
function addToHash(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}
function chooseSlot(hash: number): number {
  return (hash ^ (hash >>> 8)) & (slotsMax - 1);
}
function nextSlot(slot: number): number {
  return (slot + 1) & (slotsMax - 1);
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;

/** What a byte means inside a string. */
const usual = 0;
const special = 1;
const wide = 2;
const kindsInText = new Uint8Array(256);
for (let byte = 0; byte < 0x20; byte += 1) kindsInText[byte] = special;
kindsInText[quote] = special;
kindsInText[backslash] = special;
for (let byte = 0x80; byte <= 0xff; byte += 1) kindsInText[byte] = wide;

/** The UTF-16 code units of a character, counted at its first byte. */
function countUnits(byte: number): number {
  if (byte < 0xc0) return byte < 0x80 ? 1 : 0;
  return byte < 0xf0 ? 1 : 2;
}

const isSpace = new Uint8Array(256);
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) isSpace[byte] = 1;
const isEscape = new Uint8Array(256);
for (const mark of '"\\/bfnrt') isEscape[mark.charCodeAt(0)] = 1;
const isHex = new Uint8Array(256);
for (const mark of "0123456789abcdefABCDEF") isHex[mark.charCodeAt(0)] = 1;

const isNameByte = new Uint8Array(256);
for (let byte = 0; byte < 256; byte += 1) if (/[a-zA-Z0-9_-]/.test(String.fromCharCode(byte))) isNameByte[byte] = 1;

/** The names of tools: most are only compared with each other. */
export type ToolNames = { hashes: Set<number>; first: string[] };
const firstNamesMax = 16;

const literals = ["true", "false", "null"].map((word) => Buffer.from(word));
const [literalTrue, literalFalse, literalNull] = literals;

/** Runs of usual bytes that are worth the look at whole words. */
const shortRun = 16;
const highBits = 0x80808080 | 0;
const depthMax = 60;
/** Names of one object that are compared with each other. */
const namesMax = 64;
const digitsMax = 20;
const exponentDigitsMax = 2;

/**
 * Reads JSON where it is, byte by byte, and creates nothing. Every method throws if the text is not what it expects; whatever
 * passes is valid JSON without names that occur twice, without numbers beyond a double and without deep nesting, provided that
 * the bytes are valid UTF-8.
 */
export class JsonCursor {
  readonly bytes: Buffer;
  private readonly limits: JsonLimits;
  at = 0;
  /** The last string: its place between the quotes, and its length in UTF-16 code units. */
  textFrom = 0;
  textTo = 0;
  textUnits = 0;
  /** `{`, `[`, `:` and `,` outside strings, and backslashes inside. */
  structure = 0;
  escapes = 0;
  private hash = 0;
  /** Hashes of the names of the objects that are open. */
  private readonly names = new Int32Array(namesMax * 4);
  private namesTop = 0;
  /** The same bytes four at a time, and the place of the first one in its word. */
  private readonly words: Int32Array;
  private readonly wordShift: number;

  constructor(bytes: Buffer, limits: JsonLimits) {
    this.bytes = bytes;
    this.limits = limits;
    this.wordShift = bytes.byteOffset & 3;
    const from = bytes.byteOffset - this.wordShift;
    this.words = new Int32Array(bytes.buffer, from, (bytes.byteLength + this.wordShift) >> 2);
  }

  /** The next byte that is no whitespace; `-1` at the end. */
  peek(): number {
    const byte = this.bytes[this.at] ?? 0;
    return byte > 0x20 ? byte : this.skipSpace();
  }

  private skipSpace(): number {
    const { bytes } = this;
    const { length } = bytes;
    let { at } = this;
    while (at < length && isSpace[bytes[at] ?? 0] === 1) at += 1;
    this.at = at;
    return at < length ? (bytes[at] ?? -1) : -1;
  }

  open(mark: "{" | "["): void {
    this.take(mark === "{" ? openBrace : openBracket);
    this.structure += 1;
  }

  /** Whether the object or list that was opened has another member. Call it before each one. */
  hasNext(mark: "}" | "]", isFirst: boolean): boolean {
    const next = this.peek();
    if (next === (mark === "}" ? closeBrace : closeBracket)) {
      this.at += 1;
      return false;
    }
    if (isFirst) return true;
    // Checked at each comma, so that a large text is not read to its end in vain.
    if (next !== comma || this.structure > this.limits.structureMax) throw odd;
    this.at += 1;
    this.structure += 1;
    return true;
  }

  /** Gives the text to the parser. */
  refuse(): never {
    throw odd;
  }

  /** Reads an object with names of the table, each at most once; `take` reads their values. Returns the set of its names. */
  readObject(table: WordTable, take: (name: number) => void): number {
    let seen = 0;
    let name = -1;
    this.open("{");
    for (let isFirst = true; this.hasNext("}", isFirst); isFirst = false) {
      name = this.readName(table, name + 1);
      const bit = 1 << name;
      if (name < 0 || (seen & bit) !== 0) throw odd;
      seen |= bit;
      take(name);
    }
    return seen;
  }

  /** Reads the whole text, an object: values with names of the table are read by `take`, others are skipped. */
  readOutermost(table: WordTable, take: (name: number) => void): void {
    this.open("{");
    for (let isFirst = true; this.hasNext("}", isFirst); isFirst = false) {
      const name = this.readName(table, -1);
      this.noteName(0);
      if (name < 0) this.skipValue(0);
      else take(name);
    }
    if (this.peek() !== -1) throw odd;
  }

  /** Returns the number of items. */
  readList(take: () => void): number {
    let items = 0;
    this.open("[");
    for (; this.hasNext("]", items === 0); items += 1) take();
    return items;
  }

  private readName(table: WordTable, guess: number): number {
    const index = this.readWord(table, guess);
    this.take(colon);
    this.structure += 1;
    return index;
  }

  /** Reads a string. Returns its index in the table, or `-1`. `guess` is the index that it probably has. */
  private readWord(table: WordTable, guess: number): number {
    const likely = table.words[guess];
    if (likely !== undefined && this.takeWord(likely)) return guess;
    this.readBareText();
    let slot = chooseSlot(this.hash);
    for (let index = table.slots[slot] ?? -1; index !== -1; index = table.slots[slot] ?? -1) {
      const word = table.words[index];
      if (word !== undefined && this.isText(word)) return index;
      slot = nextSlot(slot);
    }
    return -1;
  }

  /** Takes a string if it is this one. */
  private takeWord(word: Uint8Array): boolean {
    const { bytes } = this;
    if (this.peek() !== quote) return false;
    const from = this.at + 1;
    const { length } = word;
    for (let index = 0; index < length; index += 1) if (bytes[from + index] !== word[index]) return false;
    if (bytes[from + length] !== quote) return false;
    this.at = from + length + 1;
    return true;
  }

  private isText(word: Uint8Array): boolean {
    const { bytes, textFrom } = this;
    if (this.textTo - textFrom !== word.length) return false;
    for (let index = 0; index < word.length; index += 1) if (bytes[textFrom + index] !== word[index]) return false;
    return true;
  }

  /** A string without escapes, and its hash. */
  private readBareText(): void {
    this.take(quote);
    const { bytes } = this;
    let { at } = this;
    let hash = hashSeed;
    const { length } = bytes;
    this.textFrom = at;
    while (at < length) {
      const byte = bytes[at] ?? 0;
      if (kindsInText[byte] === special) break;
      hash = addToHash(hash, byte);
      at += 1;
    }
    if (at >= length || bytes[at] !== quote) throw odd;
    this.hash = hash;
    this.textTo = at;
    this.at = at + 1;
  }

  /** Reads a string, whose place and length are then known. */
  readText(): void {
    this.take(quote);
    const { bytes } = this;
    const from = this.at;
    let at = from;
    // The bytes that are no UTF-16 code unit of their own, less the second units of long characters.
    let extra = 0;
    for (;;) {
      at = this.skipUsual(at);
      const byte = bytes[at];
      if (byte === quote) break;
      if (byte === undefined || byte < 0x20) throw odd;
      if (byte === backslash) {
        const next = this.skipEscape(at);
        extra += next - at - 1;
        at = next;
      }
      for (let next = bytes[at] ?? 0; next >= 0x80; next = bytes[at] ?? 0) {
        extra += 1 - countUnits(next);
        at += 1;
      }
    }
    this.textFrom = from;
    this.textTo = at;
    this.textUnits = at - from - extra;
    this.at = at + 1;
  }

  /** Skips bytes of a string that stand for themselves: after a few, four at a time. */
  private skipUsual(from: number): number {
    const { bytes, words, wordShift } = this;
    const { length } = bytes;
    const near = Math.min(length, from + shortRun);
    let at = from;
    while (at < near && kindsInText[bytes[at] ?? 0] === usual) at += 1;
    if (at < near) return at;
    while (at < length && ((at + wordShift) & 3) !== 0 && kindsInText[bytes[at] ?? 0] === usual) at += 1;
    if (((at + wordShift) & 3) !== 0) return at;
    const first = (at + wordShift) >> 2;
    const last = words.length;
    let index = first;
    while (index < last) {
      const word = words[index] ?? 0;
      // The highest bit of a byte is set if it is below 0x20, a quote, a backslash or no ASCII. A borrow only sets more.
      const odd = (word - 0x20202020) | ((word ^ 0x22222222) - 0x01010101) | ((word ^ 0x5c5c5c5c) - 0x01010101) | word;
      if ((odd & highBits) !== 0) break;
      index += 1;
    }
    at += (index - first) << 2;
    while (at < length && kindsInText[bytes[at] ?? 0] === usual) at += 1;
    return at;
  }

  private skipEscape(at: number): number {
    const { bytes } = this;
    const mark = bytes[at + 1] ?? 0;
    this.escapes += 1;
    if (isEscape[mark] === 1) return at + 2;
    if (mark !== 0x75) throw odd;
    for (let index = at + 2; index < at + 6; index += 1) if (isHex[bytes[index] ?? 0] !== 1) throw odd;
    return at + 6;
  }

  /** Reads a string of the table. */
  requireWord(table: WordTable): number {
    const index = this.readWord(table, 0);
    if (index < 0) throw odd;
    return index;
  }

  /** Reads a string without escapes, so that its bytes can be looked at. */
  readPlainText(): void {
    this.peek();
    this.readBareText();
  }

  sliceText(): string {
    return this.bytes.toString("utf8", this.textFrom, this.textTo);
  }

  /** Whether the last string starts with these bytes. */
  textStartsWith(start: Uint8Array): boolean {
    const { bytes, textFrom, textTo } = this;
    return (
      textTo - textFrom >= start.length &&
      bytes.compare(start, 0, start.length, textFrom, textFrom + start.length) === 0
    );
  }

  /** Whether the last string has this byte among its first bytes. */
  textHas(byte: number, bytesMax = Number.POSITIVE_INFINITY): boolean {
    const to = Math.min(this.textTo, this.textFrom + bytesMax);
    for (let at = this.textFrom; at < to; at += 1) if (this.bytes[at] === byte) return true;
    return false;
  }

  isTextNext(): boolean {
    return this.peek() === quote;
  }

  /** A string of 1 to `unitsMax` letters, digits, underscores and dashes. Two with the same hash count as the same. */
  readToolName(unitsMax: number, names: ToolNames): void {
    this.readBareText();
    const { bytes, textFrom, textTo } = this;
    if (textTo === textFrom || textTo - textFrom > unitsMax) throw odd;
    for (let at = textFrom; at < textTo; at += 1) if (isNameByte[bytes[at] ?? 0] !== 1) throw odd;
    const { hashes, first } = names;
    const known = hashes.size;
    if (hashes.add(this.hash).size === known) throw odd;
    if (known < firstNamesMax) first.push(bytes.toString("latin1", textFrom, textTo));
  }

  readBoolean(): boolean {
    const isTrue = this.peek() === 0x74;
    this.takeLiteral(isTrue ? literalTrue : literalFalse);
    return isTrue;
  }

  /** Reads `null`, if it is next. */
  takeNull(): boolean {
    if (this.peek() !== 0x6e) return false;
    this.takeLiteral(literalNull);
    return true;
  }

  /** Reads any value. `depth` is that of the value around it. */
  skipValue(depth: number): void {
    const next = this.peek();
    if (next === quote) this.readText();
    else if (next === openBrace) this.skipObject(depth + 1);
    else if (next === openBracket) this.skipList(depth + 1);
    else if (next === minus || (next >= zero && next <= nine)) this.skipNumber();
    else if (next === 0x74) this.takeLiteral(literalTrue);
    else if (next === 0x66) this.takeLiteral(literalFalse);
    else this.takeLiteral(literalNull);
  }

  skipObject(depth: number): void {
    if (depth > depthMax) throw odd;
    const base = this.namesTop;
    this.open("{");
    for (let isFirst = true; this.hasNext("}", isFirst); isFirst = false) {
      this.peek();
      this.readBareText();
      this.noteName(base);
      this.take(colon);
      this.structure += 1;
      this.skipValue(depth);
    }
    this.namesTop = base;
  }

  /** Two names with the same hash count as the same. */
  private noteName(base: number): void {
    const { names, namesTop, hash } = this;
    if (namesTop - base >= namesMax || namesTop >= names.length) throw odd;
    for (let index = base; index < namesTop; index += 1) if (names[index] === hash) throw odd;
    names[namesTop] = hash;
    this.namesTop = namesTop + 1;
  }

  private skipList(depth: number): void {
    if (depth > depthMax) throw odd;
    this.open("[");
    for (let isFirst = true; this.hasNext("]", isFirst); isFirst = false) this.skipValue(depth);
  }

  private skipNumber(): void {
    const { bytes } = this;
    let { at } = this;
    if (bytes[at] === minus) at += 1;
    if (bytes[at] === zero) at += 1;
    else at = this.skipDigits(at, digitsMax);
    if (bytes[at] === point) at = this.skipDigits(at + 1, digitsMax);
    const mark = bytes[at];
    if (mark === 0x65 || mark === 0x45) {
      const sign = bytes[at + 1];
      at = this.skipDigits(sign === minus || sign === plus ? at + 2 : at + 1, exponentDigitsMax);
    }
    this.at = at;
  }

  /** At least one digit. */
  private skipDigits(from: number, most: number): number {
    const { bytes } = this;
    let at = from;
    for (let byte = bytes[at] ?? 0; byte >= zero && byte <= nine; byte = bytes[at] ?? 0) at += 1;
    if (at === from || at - from > most) throw odd;
    return at;
  }

  private take(byte: number): void {
    if (this.peek() !== byte) throw odd;
    this.at += 1;
  }

  private takeLiteral(word: Uint8Array | undefined): void {
    const { bytes, at } = this;
    if (word === undefined) throw odd;
    for (let index = 0; index < word.length; index += 1) if (bytes[at + index] !== word[index]) throw odd;
    this.at = at + word.length;
  }
}

/** Limits of a text: the parser's time depends on them more than on its length. */
export type JsonLimits = {
  /** `{`, `[`, `:` and `,` outside strings, which dominate the time of parsing and validation. */
  structureMax: number;
  /** Backslashes in strings: an escape costs as much as many plain characters. */
  escapesMax: number;
};

/** What `read` finds in the bytes; `null` if it refuses them, or they exceed a limit. */
export function readOutline<T>(bytes: Buffer, limits: JsonLimits, read: (cursor: JsonCursor) => T): T | null {
  const cursor = new JsonCursor(bytes, limits);
  try {
    const found = read(cursor);
    return cursor.structure > limits.structureMax || cursor.escapes > limits.escapesMax ? null : found;
  } catch (error) {
    if (error === odd) return null;
    throw error;
  }
}
