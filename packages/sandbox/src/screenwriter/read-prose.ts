import { isSaid, type ProsePart, putTogether, splitQuotes } from "./quoted-speech.ts";
import { findNamed, findPerson, findTeller, hasPronoun, hasSpeechVerb } from "./speech-verbs.ts";
import { isSpeakable, splitStory } from "./story-text.ts";

/** A piece of a story: speech, narration, or visible action. */
export type ProsePiece =
  | { kind: "speech"; speaker: string | null; text: string }
  | { kind: "told" | "seen"; text: string };

/** The last speakers, so that "she said" and answers without a name can be attributed. */
export type Talk = {
  last: string | null;
  other: string | null;
  /** The person mentioned last. */
  named: string | null;
};

const tagWordsMax = 5;
const tagSignsMax = 9;
const tagEnd = /[\s,，、]*(?:and\s)?[\p{L}\p{M}’']{1,20}[:：,，]?$/u;

export type ProseContext = {
  /** Candidates for speakers. */
  known: readonly string[];
  /** Carried over between paragraphs. */
  talk: Talk;
  /** In a play, a quotation is speech only with a known speaker. */
  isPlay: boolean;
};

/** Splits a paragraph of a story into pieces. */
export function readProse(paragraph: string, { known, talk, isPlay }: ProseContext): ProsePiece[] {
  const split = splitQuotes(paragraph);
  const parts = putTogether(split, (index) => isSpoken(split, index, { known, isPlay }));
  const pieces: ProsePiece[] = [];
  let isSameParagraph = false;
  for (const [index, part] of parts.entries()) {
    if (part.kind === "told") {
      talk.named = findNamed(part.text, known) ?? findPerson(part.text) ?? talk.named;
      const beside = { isBeforeQuote: isQuote(parts[index + 1]), isAfterQuote: isQuote(parts[index - 1]) };
      pieces.push(...readTold(part.text, beside).map((piece) => nameDoer(piece, talk)));
      continue;
    }
    const speaker = findSpeaker({ ...listBeside(parts, index), known, talk, isSameParagraph });
    if (speaker !== null && speaker !== talk.last) [talk.last, talk.other] = [speaker, talk.last];
    isSameParagraph = true;
    pieces.push({ kind: "speech", speaker, text: endSpeech(part.text) });
  }
  return pieces;
}

function isSpoken(
  parts: readonly ProsePart[],
  index: number,
  { known, isPlay }: { known: readonly string[]; isPlay: boolean },
): boolean {
  const { before, after } = listBeside(parts, index);
  const teller = findTold(before, after, known);
  if (isPlay && (teller === null || !known.includes(teller))) return false;
  const telling = [before, after].find(hasSpeechVerb);
  const isTold = teller !== null || (telling !== undefined && hasPronoun(telling)) || /[:：]$/u.test(before);
  return isSaid(parts[index]?.text ?? "", { isTold, isAlone: parts.length === 1 });
}

/** The sentences on both sides of a quotation. One that ends with a colon refers to the next quotation. */
function listBeside(parts: readonly ProsePart[], index: number): { before: string; after: string } {
  const after = beginningOf(parts[index + 1]);
  return { before: endOf(parts[index - 1]), after: /[:：]$/u.test(after) ? "" : after };
}

/** An unfinished sentence before the quotation is about it; else the one after it may be. */
function findTold(before: string, after: string, known: readonly string[]): string | null {
  const isAbout = isOpen(before) && hasSpeechVerb(before);
  const [first, second] = isAbout ? [before, after] : [after, before];
  return findTeller(first, known) ?? (isAbout && hasPronoun(before) ? null : findTeller(second, known));
}

function isOpen(sentence: string): boolean {
  return /[^.!?。！？…]$/u.test(sentence);
}

type Beside = { before: string; after: string; known: readonly string[]; talk: Talk; isSameParagraph: boolean };

function findSpeaker({ before, after, known, talk, isSameParagraph }: Beside): string | null {
  const told = findTold(before, after, known);
  if (told !== null) return told;
  const telling = [isOpen(before) ? before : "", after, before].find(hasSpeechVerb);
  if (telling !== undefined && hasPronoun(telling)) return findNamed(before, known) ?? talk.last ?? talk.named;
  const named = findNamed(after.slice(0, 40), known) ?? findNamed(before, known);
  if (named !== null) return named;
  if (isSameParagraph) return talk.last;
  // In a dialogue of two, a new paragraph is the other's answer.
  return talk.other ?? (known.length === 2 ? (known.find((name) => name !== talk.last) ?? null) : talk.last);
}

/** Drops speech tags. An action beside one is visible action; all else is narration. */
function readTold(
  text: string,
  { isBeforeQuote, isAfterQuote }: { isBeforeQuote: boolean; isAfterQuote: boolean },
): ProsePiece[] {
  const sentences = splitStory(text);
  return sentences.flatMap((sentence, index): ProsePiece[] => {
    const isTagAfter = isAfterQuote && index === 0 && isTag(sentence);
    const isTagBefore = isBeforeQuote && index === sentences.length - 1 && /[^.!?！？]$/u.test(sentence);
    if (!isTagAfter && !(isTagBefore && hasSpeechVerb(sentence))) {
      return isSpeakable(sentence) ? [{ kind: "told", text: sentence }] : [];
    }
    if (isShort(sentence)) return [];
    const seen = isTagAfter ? dropTagBefore(sentence) : sentence.replace(tagEnd, "");
    return seen === "" ? [] : [{ kind: "seen", text: seen }];
  });
}

/** "said Anna", but not "Nobody answered". */
function isTag(sentence: string): boolean {
  if (!hasSpeechVerb(sentence)) return false;
  return /^[^\p{Lu}]/u.test(sentence) || hasPronoun(sentence) || findTeller(sentence, []) !== null;
}

/** From "said Anna, and opened the door." keeps the action. */
function dropTagBefore(sentence: string): string {
  const comma = sentence.search(/[,，]/u);
  return comma < 0
    ? sentence
    : sentence
        .slice(comma + 1)
        .replace(/^\s?and\s/iu, "")
        .trim();
}

/** "and shook his coat" was done by the speaker. */
function nameDoer(piece: ProsePiece, { last }: Talk): ProsePiece {
  return piece.kind === "seen" && last !== null && /^\p{Ll}/u.test(piece.text) && !hasPronoun(piece.text)
    ? { ...piece, text: `${last} ${piece.text}` }
    : piece;
}

/** Replaces the comma before "said Anna". */
function endSpeech(text: string): string {
  return text.replace(/,$/, ".").replace(/[，、]$/u, "。");
}

function isShort(sentence: string): boolean {
  const words = sentence.split(/\s+/).length;
  return words > 1 ? words <= tagWordsMax : Array.from(sentence).length <= tagSignsMax;
}

function isQuote(part: ProsePart | undefined): boolean {
  return part?.kind === "quoted";
}

function endOf(part: ProsePart | undefined): string {
  if (part?.kind !== "told") return "";
  return splitStory(part.text.slice(-300)).at(-1)?.slice(-120) ?? "";
}

function beginningOf(part: ProsePart | undefined): string {
  if (part?.kind !== "told") return "";
  return splitStory(part.text.slice(0, 300))[0]?.slice(0, 120) ?? "";
}
