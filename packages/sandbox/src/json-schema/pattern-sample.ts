const patternCharactersMax = 500;
const textCharactersMax = 300;
const nestingMax = 20;
const tokenPattern =
  /\\u[\da-f]{4}|\\x[\da-f]{2}|\\p\{\w+(?:=\w+)?\}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?:|[*+?]\??|\{\d{1,4}(?:,\d{0,4})?\}\??|./gisu;
const quantifierPattern = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/;
/** Pleasant ones first. */
const signs = [
  ..."abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .",
  ...Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)),
];

class UnknownPatternError extends Error {}

/**
 * A text that matches a regular expression because it was made from it: everything that may be repeated is repeated
 * `extra` times more than it must be. `null` for what is not known here, and for what would be long. A caller's expression
 * is never run, since some run for ever; only its sets of signs are, each on one sign.
 */
export function samplePattern(pattern: string, extra: number): string | null {
  if (pattern.length > patternCharactersMax) return null;
  const tokens = pattern.match(tokenPattern) ?? [];
  let at = 0;
  try {
    const text = readChoice(0);
    return at === tokens.length ? text : null;
  } catch (error) {
    if (error instanceof UnknownPatternError) return null;
    throw error;
  }

  /** The first of the alternatives; the others are only read. */
  function readChoice(depth: number): string {
    if (depth > nestingMax) throw new UnknownPatternError();
    const text = readSequence(depth);
    while (tokens[at] === "|") {
      at += 1;
      readSequence(depth);
    }
    return text;
  }

  function readSequence(depth: number): string {
    const start = at;
    let text = "";
    for (let token = tokens[at]; token !== undefined && token !== "|" && token !== ")"; token = tokens[at]) {
      at += 1;
      if (token === "^" || token === "$") {
        // Elsewhere, an anchor would forbid what stands beside it.
        const isAtEdge = token === "^" ? at === start + 1 : [undefined, "|"].includes(tokens[at]);
        if (depth > 0 || !isAtEdge) throw new UnknownPatternError();
        continue;
      }
      const item = readItem(token, depth);
      const count = readCount();
      if (text.length + item.length * count > textCharactersMax) throw new UnknownPatternError();
      text += item.repeat(count);
    }
    return text;
  }

  function readItem(token: string, depth: number): string {
    if (token === "(" || token === "(?:") {
      const text = readChoice(depth + 1);
      at += 1;
      if (tokens[at - 1] !== ")") throw new UnknownPatternError();
      return text;
    }
    if (/^(?:[*+?]\??|[{}\][]|\{.*|\\[bBkc\d]?)$/.test(token)) throw new UnknownPatternError();
    return sampleSign(token);
  }

  function readCount(): number {
    const [token, sign, low, comma, high] = quantifierPattern.exec(tokens[at] ?? "") ?? [];
    if (token === undefined) return 1;
    at += 1;
    const min = sign === undefined ? Number(low) : sign === "+" ? 1 : 0;
    const max = sign === "?" ? 1 : comma === "" ? min : high ? Number(high) : Number.POSITIVE_INFINITY;
    if (min > max) throw new UnknownPatternError();
    return Math.min(max, min + extra);
  }
}

/** One sign that a set, an escape, a dot or a sign itself allows. */
function sampleSign(token: string): string {
  if (!/^[\\[.]/.test(token)) return token;
  let allowed: RegExp;
  try {
    allowed = new RegExp(`^${token}$`, "u");
  } catch {
    // The language tells by throwing that it is no such thing.
    throw new UnknownPatternError();
  }
  const sign = signs.find((each) => allowed.test(each));
  if (sign === undefined) throw new UnknownPatternError();
  return sign;
}
