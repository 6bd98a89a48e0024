import type { Pattern } from "./schema-pattern.ts";

const pleasantSigns = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .";
/** Where no pleasant sign is allowed, the first of these that is. */
const signCodesMax = 0x3000;
const charactersMax = 300;

/**
 * A text for the pattern in which everything that may be repeated is repeated `extra` times more than it must be; `null`
 * when it would be too long or no sign is allowed where one must be. Whether it fits is for `matchesPattern` to say.
 */
export function samplePattern(pattern: Pattern, extra: number): string | null {
  switch (pattern.kind) {
    case "start":
    case "end":
      return "";
    case "set":
      return sampleSet(pattern);
    case "choice":
      return pattern.items[0] === undefined ? "" : samplePattern(pattern.items[0], extra);
    case "sequence":
      return join(pattern.items.map((item) => samplePattern(item, extra)));
    case "repeat": {
      const text = samplePattern(pattern.item, extra);
      const count = Math.min(pattern.max, pattern.min + extra);
      return text === null || text.length * count > charactersMax ? null : text.repeat(count);
    }
  }
}

function sampleSet(pattern: Pattern & { kind: "set" }): string | null {
  for (const sign of pleasantSigns) if (includes(pattern, sign.codePointAt(0) ?? 0)) return sign;
  const first = pattern.ranges[0]?.[0];
  if (first !== undefined && !pattern.isNegated) return String.fromCodePoint(first);
  for (let code = 0x21; code < signCodesMax; code += 1) if (includes(pattern, code)) return String.fromCodePoint(code);
  return null;
}

function join(texts: readonly (string | null)[]): string | null {
  let whole = "";
  for (const text of texts) {
    if (text === null || whole.length + text.length > charactersMax) return null;
    whole += text;
  }
  return whole;
}

/** Whether the pattern matches anywhere in the text, as JSON Schema has it. */
export function matchesPattern(pattern: Pattern, text: string): boolean {
  if (text.length > charactersMax) return false;
  const codes = Array.from(text, (sign) => sign.codePointAt(0) ?? 0);
  const everywhere = new Set(Array.from({ length: codes.length + 1 }, (_, index) => index));
  return advance(pattern, codes, everywhere).size > 0;
}

/** All the places where a match can end that begins at one of the given ones. */
function advance(pattern: Pattern, codes: readonly number[], from: ReadonlySet<number>): ReadonlySet<number> {
  switch (pattern.kind) {
    case "start":
      return new Set(from.has(0) ? [0] : []);
    case "end":
      return new Set(from.has(codes.length) ? [codes.length] : []);
    case "set":
      return new Set(
        [...from].filter((at) => at < codes.length && includes(pattern, codes[at] ?? 0)).map((at) => at + 1),
      );
    case "choice":
      return new Set(pattern.items.flatMap((item) => [...advance(item, codes, from)]));
    case "sequence":
      return pattern.items.reduce((places, item) => advance(item, codes, places), from);
    case "repeat":
      return advanceRepeat(pattern, codes, from);
  }
}

function advanceRepeat(
  { item, min, max }: Pattern & { kind: "repeat" },
  codes: readonly number[],
  from: ReadonlySet<number>,
): ReadonlySet<number> {
  const ends = new Set(min === 0 ? from : []);
  let places = from;
  for (let count = 1; count <= max && places.size > 0; count += 1) {
    places = advance(item, codes, places);
    if (count < min) continue;
    // What was reached before leads nowhere new.
    places = new Set([...places].filter((at) => !ends.has(at)));
    for (const at of places) ends.add(at);
  }
  return ends;
}

function includes({ ranges, isNegated }: Pattern & { kind: "set" }, code: number): boolean {
  return ranges.some(([first, last]) => code >= first && code <= last) !== isNegated;
}
