import { findStringEnd } from "../openai-compatible/scan-json.ts";

/** What may differ between two events: the text, the sequence number, and padding. */
type Hole = "text" | "number" | "noise";

/** The start of a variable part in an event: `"text":"`. */
export type HoleKey = readonly [key: string, hole: Hole];

type Template = { literals: readonly string[]; holes: readonly Hole[] };

/** A recognised event: its JSON-escaped text and its sequence number. */
type Recognised = { text: string; number: number };

const space = 0x20;
const zero = 0x30;
const nine = 0x39;
/** Learning costs about as much as parsing one event, so it must pay off with as many hits. */
const creditMax = 4;

/**
 * Recognises events that differ from an earlier one only in their text, so that most events of a stream need no
 * parsing. One per stream.
 */
export class DeltaTemplate {
  private template: Template | null = null;
  private credit = creditMax;

  /** `null` for an event that must be parsed. */
  recognise(text: string, from: number, to: number): Recognised | null {
    const found = this.template === null ? null : match(this.template, text, from, to);
    if (found !== null && this.credit < creditMax) this.credit += 1;
    return found;
  }

  /** Learns from a parsed event. */
  learn(data: string, keys: readonly HoleKey[]): void {
    if (this.credit === 0) return;
    this.credit -= 1;
    this.template = learn(data, keys) ?? this.template;
  }
}

function learn(data: string, keys: readonly HoleKey[]): Template | null {
  if (data.includes("\n")) return null;
  const found = keys
    .map(([key, hole]) => ({ hole, at: data.indexOf(key), last: data.lastIndexOf(key), length: key.length }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at);
  // Quotes in strings are escaped, so each match is a field name. Two matches would be ambiguous.
  if (found.some(({ at, last }) => at !== last) || !found.some(({ hole }) => hole === "text")) return null;
  const literals: string[] = [];
  let from = 0;
  for (const { hole, at, length } of found) {
    const start = at + length;
    literals.push(data.slice(from, start));
    from = hole === "number" ? findNumberEnd(data, start, data.length) : findStringEnd(data, start, data.length);
    if (from < 0) return null;
  }
  return { literals: [...literals, data.slice(from)], holes: found.map(({ hole }) => hole) };
}

function match({ literals, holes }: Template, text: string, from: number, to: number): Recognised | null {
  let at = from;
  let written = "";
  let number = 0;
  for (let index = 0; index < holes.length; index += 1) {
    const literal = literals[index] ?? "";
    if (!isAt(text, literal, at)) return null;
    const start = at + literal.length;
    const hole = holes[index];
    at = hole === "number" ? findNumberEnd(text, start, to) : findStringEnd(text, start, to);
    if (at < 0) return null;
    if (hole === "text") written = text.slice(start, at);
    else if (hole === "number") number = Number(text.slice(start, at));
  }
  return isRest(text, literals[holes.length] ?? "", at, to) ? { text: written, number } : null;
}

/** Like `startsWith`, which is several times slower. */
function isAt(text: string, literal: string, at: number): boolean {
  return text.slice(at, at + literal.length) === literal;
}

/** Vendors pad their events with spaces, so that their length does not reveal the text. */
function isRest(text: string, literal: string, from: number, to: number): boolean {
  if (to - from === literal.length && isAt(text, literal, from)) return true;
  let at = from;
  for (let index = 0; index < literal.length; index += 1) {
    const code = literal.charCodeAt(index);
    if (code === space) continue;
    while (at < to && text.charCodeAt(at) === space) at += 1;
    if (at >= to || text.charCodeAt(at) !== code) return false;
    at += 1;
  }
  while (at < to && text.charCodeAt(at) === space) at += 1;
  return at === to;
}

function findNumberEnd(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && text.charCodeAt(at) >= zero && text.charCodeAt(at) <= nine) at += 1;
  return at === from ? -1 : at;
}

/** The value of a JSON-escaped text. */
export function unescapeText(text: string): string {
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}
