import { SchemaObstacleError } from "./schema-rules.ts";

const patternCharactersMax = 500;
const textCharactersMax = 300;
const nestingMax = 20;
const tokenPattern =
  /\\u[\da-f]{4}|\\x[\da-f]{2}|\\p\{\w+(?:=\w+)?\}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?:|[*+?]\??|\{\d{1,4}(?:,\d{0,4})?\}\??|./gisu;
const quantifierPattern = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/;
/** Pleasant ones first. Few, because each set of a pattern is tried on them. */
const signs = [
  ..."abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .中αжかナ한–“€😀",
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCodePoint(code)),
];

/**
 * A text that matches a regular expression because it was made from it: everything that may be repeated is repeated
 * `extra` times more than it must be. Throws for what is not known here, and for what would be long. A caller's
 * expression is never run, since some run for ever; only its sets of signs are, each on one sign.
 */
export function samplePattern(pattern: string, extra: number): string {
  const tokens = pattern.slice(0, patternCharactersMax + 1).match(tokenPattern) ?? [];
  let at = 0;
  const text = readChoice(0);
  refuseIf(at < tokens.length || pattern.length > patternCharactersMax);
  return text;

  /** The first of the alternatives; the others are only read. */
  function readChoice(depth: number): string {
    refuseIf(depth > nestingMax);
    const first = readSequence(depth);
    while (tokens[at] === "|") {
      at += 1;
      readSequence(depth);
    }
    return first;
  }

  function readSequence(depth: number): string {
    const start = at;
    let sequence = "";
    for (let token = tokens[at]; token !== undefined && token !== "|" && token !== ")"; token = tokens[at]) {
      at += 1;
      if (token === "^" || token === "$") {
        // Elsewhere, an anchor would forbid what stands beside it.
        const isAtEdge = token === "^" ? at === start + 1 : [undefined, "|"].includes(tokens[at]);
        refuseIf(depth > 0 || !isAtEdge);
        continue;
      }
      const item = token === "(" || token === "(?:" ? readGroup(depth) : sampleSign(token);
      const count = readCount();
      refuseIf(sequence.length + item.length * count > textCharactersMax);
      sequence += item.repeat(count);
    }
    return sequence;
  }

  function readGroup(depth: number): string {
    const group = readChoice(depth + 1);
    at += 1;
    refuseIf(tokens[at - 1] !== ")");
    return group;
  }

  function readCount(): number {
    const [token, sign, low, comma, high] = quantifierPattern.exec(tokens[at] ?? "") ?? [];
    if (token === undefined) return 1;
    at += 1;
    const min = sign === undefined ? Number(low) : sign === "+" ? 1 : 0;
    const max = sign === "?" ? 1 : comma === "" ? min : high ? Number(high) : Number.POSITIVE_INFINITY;
    refuseIf(min > max);
    return Math.min(max, min + extra);
  }
}

/** One sign that a set, an escape, a dot or a sign itself allows. */
function sampleSign(token: string): string {
  refuseIf(/^(?:[*+?]\??|[{}\][]|\{.*|\\[bBkc\d]?)$/.test(token));
  if (!/^[\\[.]/.test(token)) return token;
  let sign: string | undefined;
  try {
    const allowed = new RegExp(`^${token}$`, "u");
    sign = signs.find((each) => allowed.test(each));
  } catch {
    // The language tells by throwing that it is no such thing.
  }
  refuseIf(sign === undefined);
  return sign ?? "";
}

function refuseIf(isUnknown: boolean): void {
  if (isUnknown) throw new SchemaObstacleError("This model does not support one of the patterns in the schema.");
}
