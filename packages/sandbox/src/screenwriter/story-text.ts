import { countMatches, denseSigns } from "./story-language.ts";

const charactersPerSecond = 14;
const denseSignsPerSecond = 4.5;
const pauseSeconds = 0.6;
const sentenceCharactersMax = 260;

const abbreviations = /(?:^|[\s("“])(?:\p{Lu}|Mr|Mrs|Ms|Dr|St|Prof|Sr|Jr|vs|etc)\.$/u;
const closers = new Set(`"'”’»」』)）】`);
const spacedEnds = new Set(".!?…؟।");
const denseEnds = new Set("。！？");

/** How long it takes to say a text, with a breath after it. */
export function estimateSpeechSeconds(text: string): number {
  const dense = countMatches(text, denseSigns);
  return pauseSeconds + dense / denseSignsPerSecond + (text.length - dense) / charactersPerSecond;
}

/** Whether there is anything in it that a voice can say. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** The sentences of a paragraph; put together with spaces they are the paragraph. */
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

/** A text in parts that are short enough to be said in one image: whole sentences, or as many words as fit. */
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

/** The beginning of a text: whole sentences where they are most of it, else whole words; empty where none fits. */
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

/** Scripts without spaces are put together without them. */
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

/** "3.14" and "Mr. Smith" are no ends. */
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

/** A word that is longer than all is cut, but not in the middle of a character. */
function countWholeCharacters(text: string, max: number): number {
  return text.slice(0, max).isWellFormed() ? max : max - 1;
}

/** As many whole words as fit, with a sign that there were more. */
function cutWords(text: string, fits: (text: string) => boolean, more = "…"): string {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  let kept = "";
  for (const { index, segment, isWordLike } of segmenter.segment(text.slice(0, 4000))) {
    if (!fits(text.slice(0, index + segment.length).trimEnd() + more)) break;
    if (isWordLike === true) kept = text.slice(0, index + segment.length);
  }
  return kept === "" ? "" : kept + more;
}
