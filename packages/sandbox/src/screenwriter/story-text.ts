import { countMatches, denseSigns } from "./story-language.ts";

const charactersPerSecond = 14;
const denseSignsPerSecond = 4.5;
const pauseSeconds = 0.6;
const sentenceCharactersMax = 260;

const abbreviations = /(?:^|[\s("“])(?:\p{Lu}|Mr|Mrs|Ms|Dr|St|Prof|Sr|Jr|vs|etc)\.$/u;
const closers = new Set(`"'”’»」』)）】`);
const spacedEnds = new Set(".!?…؟।");
const denseEnds = new Set("。！？");

/** The estimated duration of a text when spoken, with a pause after it. */
export function estimateSpeechSeconds(text: string): number {
  const dense = countMatches(text, denseSigns);
  return pauseSeconds + dense / denseSignsPerSecond + (text.length - dense) / charactersPerSecond;
}

/** Whether a voice can say anything of it. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** The sentences of a paragraph. Joined with spaces, they are the paragraph. */
export function splitStory(text: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if (!spacedEnds.has(sign) && !denseEnds.has(sign)) continue;
    let end = at + 1;
    while (end < text.length && isAfterEnd(text[end] ?? "")) end += 1;
    if (denseEnds.has(sign) || isSentenceEnd(text, from, end)) {
      sentences.push(text.slice(from, end));
      from = end;
    }
    at = end - 1;
  }
  sentences.push(text.slice(from));
  return sentences.map((sentence) => sentence.trim()).filter((sentence) => sentence !== "");
}

/** Splits a text into parts that fit one shot: whole sentences, or as many words as fit. */
export function splitSpeech(text: string): string[] {
  if (text.length <= sentenceCharactersMax) return [text];
  const parts: string[] = [];
  for (const sentence of splitStory(text).flatMap(splitLong)) {
    const last = parts.at(-1);
    const joined = last === undefined ? sentence : joinText(last, sentence);
    if (last !== undefined && joined.length <= sentenceCharactersMax) parts[parts.length - 1] = joined;
    else parts.push(sentence);
  }
  return parts;
}

/** The start of a text: whole sentences if they are most of it, else whole words; empty if none fits. */
export function cutText(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  let kept = "";
  for (const sentence of splitStory(text)) {
    const longer = joinText(kept, sentence);
    if (!fits(longer)) break;
    kept = longer;
  }
  return kept === "" ? cutWords(text, fits) : kept;
}

export function cutToLength(text: string, charactersMax: number): string {
  return cutText(text, (part) => part.length <= charactersMax);
}

/** Joins scripts without spaces without one. */
export function joinText(before: string, after: string): string {
  if (before === "" || after === "") return before + after;
  const isDense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。！？，、」』”]$/u.test(before.slice(-2));
  return isDense && /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}「『“]/u.test(after)
    ? before + after
    : `${before} ${after}`;
}

export function writeSentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const first = String.fromCodePoint(trimmed.codePointAt(0) ?? 0);
  const rest = trimmed.slice(first.length);
  const isEnded = /[.!?…。！？؟।"'”’»」』)）]$/u.test(trimmed.slice(-2));
  const end = isEnded ? "" : /\p{Script=Han}$/u.test(trimmed.slice(-2)) ? "。" : ".";
  return first.toUpperCase() + rest + end;
}

function isAfterEnd(sign: string): boolean {
  return closers.has(sign) || spacedEnds.has(sign) || denseEnds.has(sign);
}

/** "3.14" and "Mr. Smith" do not end a sentence. */
function isSentenceEnd(text: string, from: number, end: number): boolean {
  if (end >= text.length) return true;
  if (!/\s/.test(text[end] ?? "")) return false;
  const next = text.slice(end, end + 20).trimStart();
  return !/^\p{Ll}/u.test(next) && !abbreviations.test(text.slice(Math.max(from, end - 8), end));
}

function splitLong(sentence: string): string[] {
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > sentenceCharactersMax) {
    const part = cutWords(rest, (words) => words.length <= sentenceCharactersMax, "");
    const length = part.length === 0 ? countWholeCharacters(rest, sentenceCharactersMax) : part.length;
    parts.push(rest.slice(0, length).trim());
    rest = rest.slice(length).trim();
  }
  return [...parts, rest].filter((part) => part !== "");
}

/** Cuts a long word, but not inside a character. */
function countWholeCharacters(text: string, max: number): number {
  return text.slice(0, max).isWellFormed() ? max : max - 1;
}

/** As many whole words as fit, with an ellipsis. */
function cutWords(text: string, fits: (text: string) => boolean, more = "…"): string {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  let kept = "";
  for (const { index, segment, isWordLike } of segmenter.segment(text.slice(0, 4000))) {
    if (!fits(text.slice(0, index + segment.length).trimEnd() + more)) break;
    if (isWordLike === true) kept = text.slice(0, index + segment.length);
  }
  return kept === "" ? "" : kept + more;
}
