import { textEnd } from "../../../lib/secret-shapes.ts";

/** An object or array, with what distinguishes it from others at the same path. */
type Container = {
  parent: Container | null;
  depth: number;
  /** Its key or index in its parent. */
  place: string;
  isObject: boolean;
  /** The field that is being read; in an array, the array's own field. */
  name: string | null;
  index: number;
  /** The choice, block or item that it belongs to. */
  marks: string;
};

/** The span of a string or number in JSON-like text, without its quotes. */
export type Literal = {
  start: number;
  end: number;
  hasEscapes: boolean;
  /** The field of which it is the value; `null` for a field name and outside of fields. */
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
 * Tokenizes the literals of a text in one pass. The text may be JSON, truncated JSON, lines that contain JSON, or
 * something else: it never fails. With `isByLine`, each line starts a new context.
 */
export function readLiterals(text: string, { isByLine }: { isByLine: boolean }): Literal[] {
  const literals: Literal[] = [];
  // The cast keeps TypeScript from narrowing to `null`: closures assign it.
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

/** Groups the pieces of streamed values: literals at the same path of successive events. */
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
  /** The span of each character in the original text. */
  starts: Uint32Array;
  ends: Uint32Array;
};

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

type Piece = Pick<Literal, "start" | "end">;

/** Concatenates the pieces of each thread with their escapes decoded; a separator ends each thread. */
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
