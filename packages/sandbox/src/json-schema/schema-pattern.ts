/**
 * Regular expressions as JSON Schema uses them: enough of them to make a text that matches, and to tell whether a text
 * does. A pattern comes from a caller, so it is never given to the regular expressions of the language, which can be
 * made to run for ever. What would take long here is not known here.
 */
export type Pattern =
  | { kind: "set"; isNegated: boolean; ranges: readonly Range[] }
  | { kind: "sequence"; items: readonly Pattern[] }
  | { kind: "choice"; items: readonly Pattern[] }
  | { kind: "repeat"; item: Pattern; min: number; max: number }
  | { kind: "start" }
  | { kind: "end" };

type Range = readonly [first: number, last: number];

const patternCharactersMax = 500;
const weightMax = 300;
const nestingMax = 20;

const digits: Range[] = [[48, 57]];
const wordSigns: Range[] = [...digits, [65, 90], [95, 95], [97, 122]];
const spaces: Range[] = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: Range[] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const classes: Record<string, Range[]> = { d: digits, w: wordSigns, s: spaces };
const controls: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, v: 11 };

type Cursor = { readonly signs: readonly string[]; at: number; depth: number };

class UnknownPatternError extends Error {}

/** `null` for what is no pattern, or is one of a kind that is not known here. */
export function parsePattern(text: string): Pattern | null {
  if (text.length > patternCharactersMax) return null;
  const cursor = { signs: Array.from(text), at: 0, depth: 0 };
  try {
    const pattern = parseChoice(cursor);
    return cursor.at === cursor.signs.length && weigh(pattern) <= weightMax ? pattern : null;
  } catch (error) {
    if (error instanceof UnknownPatternError) return null;
    throw error;
  }
}

/** About how many steps a match takes at each place of a text: repetitions inside of repetitions multiply. */
function weigh(pattern: Pattern): number {
  switch (pattern.kind) {
    case "sequence":
    case "choice":
      return pattern.items.reduce((sum, item) => sum + weigh(item), 0);
    case "repeat":
      return weigh(pattern.item) * Math.max(1, pattern.min, Math.min(pattern.max, 4));
    case "set":
    case "start":
    case "end":
      return 1;
  }
}

function parseChoice(cursor: Cursor): Pattern {
  const items = [parseSequence(cursor)];
  while (take(cursor, "|")) items.push(parseSequence(cursor));
  return { kind: "choice", items };
}

function parseSequence(cursor: Cursor): Pattern {
  const items: Pattern[] = [];
  for (let sign = peek(cursor); sign !== undefined && sign !== "|" && sign !== ")"; sign = peek(cursor)) {
    items.push(parseRepeat(cursor, parseItem(cursor)));
  }
  return { kind: "sequence", items };
}

function parseItem(cursor: Cursor): Pattern {
  const sign = next(cursor);
  if (sign === "^") return { kind: "start" };
  if (sign === "$") return { kind: "end" };
  if (sign === ".") return { kind: "set", isNegated: true, ranges: lineEnds };
  if (sign === "(") return parseGroup(cursor);
  if (sign === "[") return parseSet(cursor);
  if (sign === "\\") return parseEscape(cursor);
  if ("*+?{}]".includes(sign)) throw new UnknownPatternError();
  return one(codeOf(sign));
}

function parseGroup(cursor: Cursor): Pattern {
  cursor.depth += 1;
  if (cursor.depth > nestingMax) throw new UnknownPatternError();
  // Looking ahead and behind is refused here: only a group without a number may begin with a question mark.
  if (take(cursor, "?") && !take(cursor, ":")) throw new UnknownPatternError();
  const inner = parseChoice(cursor);
  if (!take(cursor, ")")) throw new UnknownPatternError();
  cursor.depth -= 1;
  return inner;
}

function parseRepeat(cursor: Cursor, item: Pattern): Pattern {
  const [min, max] = parseBounds(cursor);
  if (min === 1 && max === 1) return item;
  if (item.kind === "start" || item.kind === "end") throw new UnknownPatternError();
  // A lazy repetition matches the same texts.
  take(cursor, "?");
  return { kind: "repeat", item, min, max };
}

function parseBounds(cursor: Cursor): [min: number, max: number] {
  if (take(cursor, "*")) return [0, Number.POSITIVE_INFINITY];
  if (take(cursor, "+")) return [1, Number.POSITIVE_INFINITY];
  if (take(cursor, "?")) return [0, 1];
  if (!take(cursor, "{")) return [1, 1];
  let text = "";
  while (!take(cursor, "}")) text += next(cursor);
  const [, low = "", comma = "", high = ""] = /^(\d{1,4})(,?)(\d{0,4})$/.exec(text) ?? [];
  const min = Number(low);
  const max = comma === "" ? min : high === "" ? Number.POSITIVE_INFINITY : Number(high);
  if (low === "" || min > max) throw new UnknownPatternError();
  return [min, max];
}

function parseSet(cursor: Cursor): Pattern {
  const isNegated = take(cursor, "^");
  const ranges: Range[] = [];
  while (!take(cursor, "]")) {
    const first = parseSetItem(cursor);
    if (peek(cursor) !== "-" || cursor.signs[cursor.at + 1] === "]") {
      ranges.push(...first);
      continue;
    }
    next(cursor);
    const [low, high] = [first[0]?.[0] ?? 0, parseSetItem(cursor)[0]?.[0] ?? 0];
    if (low > high) throw new UnknownPatternError();
    ranges.push([low, high]);
  }
  return { kind: "set", isNegated, ranges };
}

function parseSetItem(cursor: Cursor): readonly Range[] {
  const sign = next(cursor);
  if (sign !== "\\") return one(codeOf(sign)).ranges;
  const escaped = parseEscape(cursor);
  if (escaped.isNegated) throw new UnknownPatternError();
  return escaped.ranges;
}

function parseEscape(cursor: Cursor): Pattern & { kind: "set" } {
  const sign = next(cursor);
  const known = classes[sign.toLowerCase()];
  if (known !== undefined) return { kind: "set", isNegated: sign !== sign.toLowerCase(), ranges: known };
  const control = controls[sign];
  if (control !== undefined) return one(control);
  if (sign === "u" || sign === "x") return one(parseHex(cursor, sign === "u" ? 4 : 2));
  // Of letters and digits only those above have a meaning that is known here.
  if (/[a-z0-9]/i.test(sign)) throw new UnknownPatternError();
  return one(codeOf(sign));
}

function parseHex(cursor: Cursor, length: number): number {
  const text = Array.from({ length }, () => next(cursor)).join("");
  if (!/^[0-9a-f]+$/i.test(text)) throw new UnknownPatternError();
  return Number.parseInt(text, 16);
}

function one(code: number): Pattern & { kind: "set" } {
  return { kind: "set", isNegated: false, ranges: [[code, code]] };
}

function codeOf(sign: string): number {
  return sign.codePointAt(0) ?? 0;
}

function peek({ signs, at }: Cursor): string | undefined {
  return signs[at];
}

function next(cursor: Cursor): string {
  const sign = peek(cursor);
  if (sign === undefined) throw new UnknownPatternError();
  cursor.at += 1;
  return sign;
}

function take(cursor: Cursor, sign: string): boolean {
  const isThere = peek(cursor) === sign;
  if (isThere) cursor.at += 1;
  return isThere;
}
