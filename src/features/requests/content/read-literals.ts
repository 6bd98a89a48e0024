import { textEnd } from "../../../lib/secret-shapes.ts";

/** An object or a list, with what tells it from others of its kind. */
type Container = {
  parent: Container | null;
  depth: number;
  /** Its place in the one around it. */
  place: string;
  isObject: boolean;
  /** The field that is being read; in a list that of the list. */
  name: string | null;
  index: number;
  /** Which choice, block or item it is about. */
  marks: string;
};

/** A text or a number within a text like JSON, from after its first quote to before its last. */
export type Literal = {
  start: number;
  end: number;
  hasEscapes: boolean;
  /** The field that it is the value of; `null` for a name and for what is in no field. */
  field: string | null;
  container: Container | null;
};

const textEndCode = textEnd.charCodeAt(0);
const markNames = new Set(["index", "output_index", "content_index", "summary_index", "item_id"]);
const threadDepthMax = 16;
const numberPattern = /-?[0-9][0-9.eE+-]*/y;

const [quote, backslash, lineEnd, comma] = [34, 92, 10, 44];
const [openBrace, closeBrace, openBracket, closeBracket, minus, zero, nine] = [123, 125, 91, 93, 45, 48, 57];

/**
 * The literals of a text, which may be JSON, or JSON that is cut off, or lines with JSON in them, or nothing of the like:
 * nothing is refused, and one pass is enough. Where lines stand for themselves, each begins anew.
 */
export function readLiterals(text: string, { isByLine }: { isByLine: boolean }): Literal[] {
  const literals: Literal[] = [];
  // Functions change it, which types do not see.
  let inside = null as Container | null;
  let at = 0;

  function readText(): void {
    const start = at + 1;
    const { end, hasEscapes } = findEnd(text, start);
    at = text.charCodeAt(end) === quote ? end + 1 : end;
    const isName = inside?.isObject === true && inside.name === null;
    literals.push({ start, end, hasEscapes, field: isName ? null : (inside?.name ?? null), container: inside });
    if (inside === null) return;
    if (isName)
      inside.name = hasEscapes ? joinLiterals(text, [[{ start, end }]]).text.slice(0, -1) : text.slice(start, end);
    else markContainer(inside, text.slice(start, end));
  }

  function readNumber(): void {
    numberPattern.lastIndex = at;
    const found = numberPattern.exec(text)?.[0] ?? text.charAt(at);
    if (inside !== null) {
      literals.push({ start: at, end: at + found.length, hasEscapes: false, field: inside.name, container: inside });
      markContainer(inside, found);
    }
    at += found.length;
  }

  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      readText();
      continue;
    }
    if ((code >= zero && code <= nine) || code === minus) {
      readNumber();
      continue;
    }
    if (code === openBrace || code === openBracket) inside = enter(inside, code === openBrace);
    else if (code === closeBrace || code === closeBracket) inside = inside?.parent ?? null;
    else if (code === comma && inside !== null) {
      inside.index += 1;
      if (inside.isObject) inside.name = null;
    } else if (code === textEndCode || (code === lineEnd && isByLine)) inside = null;
    at += 1;
  }
  return literals;
}

function enter(parent: Container | null, isObject: boolean): Container {
  const place = parent === null ? "" : parent.isObject ? (parent.name ?? "") : String(parent.index);
  const name = isObject || parent === null ? null : parent.name;
  return { parent, depth: (parent?.depth ?? 0) + 1, place, isObject, name, index: 0, marks: "" };
}

function markContainer(container: Container, value: string): void {
  if (container.isObject && container.name !== null && markNames.has(container.name)) {
    container.marks += `${container.name}=${value} `;
  }
}

function findEnd(text: string, start: number): { end: number; hasEscapes: boolean } {
  let hasEscapes = false;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote || code === textEndCode) break;
    if (code === backslash) {
      hasEscapes = true;
      at += 1;
    }
    at += 1;
  }
  return { end: Math.min(at, text.length), hasEscapes };
}

/** What is told piece by piece: the literals at the same place of one event after another, by that place. */
export function groupThreads(literals: readonly Literal[]): Literal[][] {
  const threads = new Map<string, Literal[]>();
  for (const literal of literals) {
    const { container, field } = literal;
    if (container === null || field === null || container.depth > threadDepthMax) continue;
    const key = describePlace(container, field);
    const pieces = threads.get(key);
    if (pieces === undefined) threads.set(key, [literal]);
    else pieces.push(literal);
  }
  return [...threads.values()].filter(({ length }) => length > 1);
}

function describePlace(container: Container, field: string): string {
  let place = field;
  for (let one: Container | null = container; one !== null; one = one.parent)
    place = `${one.place}(${one.marks})/${place}`;
  return place;
}

type JoinedLiterals = {
  text: string;
  /** Where each of its characters stands, and what it takes there. */
  starts: Uint32Array;
  ends: Uint32Array;
};

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

type Piece = Pick<Literal, "start" | "end">;

/** What the pieces of each thread say together, with their escapes read; after each thread, its end. */
export function joinLiterals(text: string, threads: readonly (readonly Piece[])[]): JoinedLiterals {
  const charactersMax = threads.reduce((sum, pieces) => sum + 1 + countCharacters(pieces), 0);
  const starts = new Uint32Array(charactersMax);
  const ends = new Uint32Array(charactersMax);
  const codes = new Uint16Array(charactersMax);
  let count = 0;
  for (const pieces of threads) {
    for (const { start, end } of pieces) {
      for (let at = start; at < end; ) {
        const { code, length } = readCharacter(text, at, end);
        starts[count] = at;
        ends[count] = at + length;
        codes[count] = code;
        count += 1;
        at += length;
      }
    }
    codes[count] = textEndCode;
    count += 1;
  }
  const joined = Buffer.from(codes.buffer, 0, count * 2).toString("utf16le");
  return { text: joined, starts, ends };
}

function countCharacters(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { start, end }) => sum + end - start, 0);
}

function readCharacter(text: string, at: number, end: number): { code: number; length: number } {
  const code = text.charCodeAt(at);
  if (code !== backslash || at + 1 >= end) return { code, length: 1 };
  const letter = text.charAt(at + 1);
  if (letter === "u") {
    const hex = text.slice(at + 2, Math.min(at + 6, end));
    if (/^[0-9a-fA-F]{4}$/.test(hex)) return { code: Number.parseInt(hex, 16), length: 6 };
  }
  return { code: (escapes[letter] ?? letter).charCodeAt(0), length: 2 };
}
