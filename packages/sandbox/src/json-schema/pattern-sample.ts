import { SchemaObstacleError } from "./schema-rules.ts";

const patternCharactersMax = 500;
const textCharactersMax = 300;
const nestingMax = 20;
const tokenPattern =
  /\\u[\da-f]{4}|\\x[\da-f]{2}|\\p\{\w+(?:=\w+)?\}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?:|[*+?]\??|\{\d{1,4}(?:,\d{0,4})?\}\??|./gisu;
const quantifierPattern = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/;
/** Readable ones first. Few, because each set of a pattern is tested against them. */
const signs = [
  ..."abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .中αжかナ한–“€😀",
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCodePoint(code)),
];

/**
 * Builds a text that matches a regular expression: everything repeatable is repeated `extra` times more than required.
 * Throws for unsupported syntax and long results. A caller's expression is never executed (ReDoS); only its character
 * sets are, on one character each.
 */
export function samplePattern(pattern: string, extra: number): string {
  const tokens = pattern.slice(0, patternCharactersMax + 1).match(tokenPattern) ?? [];
  let at = 0;
  const text = readChoice(0);
  refuseIf(at < tokens.length || pattern.length > patternCharactersMax);
  return text;

  /** Uses the first alternative; the others are only parsed. */
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
        // Elsewhere, an anchor would exclude what is beside it.
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

/** One character that a set, an escape, a dot or a literal allows. */
function sampleSign(token: string): string {
  refuseIf(/^(?:[*+?]\??|[{}\][]|\{.*|\\[bBkc\d]?)$/.test(token));
  if (!/^[\\[.]/.test(token)) return token;
  let sign: string | undefined;
  try {
    const allowed = new RegExp(`^${token}$`, "u");
    sign = signs.find((each) => allowed.test(each));
  } catch {
    // `RegExp` throws for invalid syntax.
  }
  refuseIf(sign === undefined);
  return sign ?? "";
}

function refuseIf(isUnknown: boolean): void {
  if (isUnknown) throw new SchemaObstacleError("This model does not support one of the patterns in the schema.");
}
