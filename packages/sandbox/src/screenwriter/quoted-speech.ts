import { isSpeakable } from "./story-text.ts";

/** A paragraph in parts: narration and quotations. */
export type ProsePart = { kind: "told" | "quoted"; text: string /** With its quotation marks. */; whole: string };

const closesByOpen: ReadonlyMap<string, string> = new Map([
  ["“", "”"],
  ["„", "“”"],
  ["«", "»"],
  ["「", "」"],
  ["『", "』"],
  ['"', '"'],
  ["＂", "＂"],
]);

export function splitQuotes(paragraph: string): ProsePart[] {
  const parts: ProsePart[] = [];
  /** Opening marks without a closing one, so that they are not searched again. */
  const unclosed = new Set<string>();
  let from = 0;
  for (let at = 0; at < paragraph.length; at += 1) {
    const open = paragraph[at] ?? "";
    const closes = closesByOpen.get(open);
    if (closes === undefined || unclosed.has(open)) continue;
    const end = Math.min(...Array.from(closes, (close) => firstOf(paragraph, close, at + 1)));
    if (end === Number.POSITIVE_INFINITY) {
      unclosed.add(open);
      continue;
    }
    putTold(paragraph.slice(from, at));
    parts.push({ kind: "quoted", text: paragraph.slice(at + 1, end).trim(), whole: paragraph.slice(at, end + 1) });
    from = end + 1;
    at = end;
  }
  putTold(paragraph.slice(from));
  return parts;

  function putTold(text: string): void {
    if (text.trim() !== "") parts.push({ kind: "told", text: text.trim(), whole: text });
  }
}

/** Joins quotations that are not speech with the sentence around them. */
export function putTogether(parts: readonly ProsePart[], isSpeech: (index: number) => boolean): ProsePart[] {
  const together: ProsePart[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.kind === "quoted" && isSpeech(index)) {
      together.push(part);
      continue;
    }
    const last = together.at(-1);
    const whole = last?.kind === "told" ? last.whole + part.whole : part.whole;
    if (last?.kind === "told") together.pop();
    together.push({ kind: "told", text: whole.trim().replace(/^[,，、]\s?/u, ""), whole });
  }
  return together;
}

/** A quoted word is not speech; a sentence is, and so is a quotation with a speech verb. */
export function isSaid(quoted: string, { isTold, isAlone }: { isTold: boolean; isAlone: boolean }): boolean {
  if (!isSpeakable(quoted)) return false;
  if (isTold || isAlone) return true;
  const isEnded = /[.,!?…—。！？，、؟]$/u.test(quoted);
  return isEnded || (quoted.split(/\s+/).length >= 4 && /^[\p{Lu}¿¡]/u.test(quoted));
}

function firstOf(text: string, sign: string, from = 0): number {
  const at = text.indexOf(sign, from);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}
