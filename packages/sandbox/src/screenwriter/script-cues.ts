import type { ScriptLine } from "./clean-script.ts";
import { isNarratorName, keyOf, looksLikeName, type NameBook, stripExtension } from "./role-names.ts";
import { parseSceneHeading } from "./scene-heading.ts";
import { findLabel, isNoName, isTransition } from "./script-labels.ts";
import { findTeller } from "./speech-verbs.ts";

/** A speaker, and the text beside the name in the same line. */
export type Cue = { speaker: string; text: string };

/** Facts about the whole script that help to find speakers. */
export type CueBook = {
  names: NameBook;
  /** How often a text appears before a colon or a dash, or alone in capitals. */
  counts: ReadonlyMap<string, number>;
  hasSlugs: boolean;
  /** Whether names are in lower case, as in a chat. */
  isChat: boolean;
};

const cueCharactersMax = 60;
const smallName = /^\p{Ll}[\p{L}\d]{0,19}$/u;

export function createCueBook(lines: readonly ScriptLine[], names: NameBook): CueBook {
  const counts = new Map<string, number>();
  const small = new Set<string>();
  let hasSlugs = false;
  for (const { text } of lines) {
    hasSlugs ||= parseSceneHeading(text)?.isSlug === true;
    const candidate = splitAtColon(text)?.speaker ?? splitAtDash(text)?.speaker ?? (isShouted(text) ? text : null);
    if (candidate === null) continue;
    const key = keyOf(stripExtension(candidate));
    if (smallName.test(stripExtension(candidate))) small.add(key);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const isChat = [...counts].some(([key, count]) => count > 1 && small.has(key));
  return { names, counts, hasSlugs, isChat };
}

/** `Anna: text`, `Anna (softly): text`, `小明：你好`, `- Anna – text`. */
export function findInlineCue(line: ScriptLine, book: CueBook): Cue | null {
  const colon = splitAtColon(line.text);
  if (colon !== null && isSpeaker(colon.speaker, book)) return { ...colon, speaker: stripExtension(colon.speaker) };
  // 小明笑着说：你好
  const teller =
    colon === null || /^["“„«»「『]/u.test(colon.text) ? null : findTeller(colon.speaker, book.names.given);
  if (colon !== null && colon.text !== "" && teller !== null && !/\p{Script=Latin}/u.test(colon.speaker)) {
    return { speaker: teller, text: colon.text };
  }
  const dash = splitAtDash(line.text);
  if (dash === null) return null;
  const name = stripExtension(dash.speaker);
  const isKnown = book.names.isGiven(name) || ((book.counts.get(keyOf(name)) ?? 0) > 1 && isSpeaker(name, book));
  return isKnown || (line.bullet !== null && isSpeaker(name, book) && name.split(" ").length <= 2)
    ? { speaker: name, text: dash.text }
    : null;
}

/** A name alone on its line, with the speech below. */
export function isCueLine(line: ScriptLine, book: CueBook): boolean {
  const { text } = line;
  if (line.isBeforeBlank || text.length > cueCharactersMax || line.bullet !== null) return false;
  if (isTransition(text) || parseSceneHeading(text) !== null) return false;
  if (/^@\p{L}/u.test(text)) return true;
  const name = stripExtension(text);
  if (name === "" || findLabel(name) !== null) return false;
  if (book.names.isGiven(name)) return keyOf(name) !== "" && !/[.!?,]$/.test(name);
  if (!isShouted(text) || !looksLikeName(name)) return false;
  const isCommon = (book.counts.get(keyOf(name)) ?? 0) > 1;
  return line.isAfterBlank || isCommon || (book.hasSlugs && name.split(" ").length <= 2);
}

function isSpeaker(candidate: string, { names, isChat }: CueBook): boolean {
  const name = stripExtension(candidate);
  if (name === "") return false;
  if (isNarratorName(name) || names.isGiven(name)) return true;
  if (findLabel(name) !== null || isNoName(name) || isTransition(name)) return false;
  if (looksLikeName(name)) return findTeller(name, []) === null;
  return isChat && smallName.test(name);
}

/** Capitals only; scripts without case have none. */
function isShouted(text: string): boolean {
  const name = stripExtension(text);
  return /\p{Lu}/u.test(name) && !/\p{Ll}/u.test(name) && !/[.!?:,…]$/.test(name) && text.length <= cueCharactersMax;
}

function splitAtColon(text: string): Cue | null {
  const at = text.slice(0, cueCharactersMax).search(/[:：]/u);
  // "12:30" and "https://" are not names.
  if (at <= 0 || text.startsWith("//", at + 1) || /\d:\d/.test(text.slice(at - 1, at + 2))) return null;
  return { speaker: text.slice(0, at).trim(), text: text.slice(at + 1).trim() };
}

function splitAtDash(text: string): Cue | null {
  const found = /^([^–—-]{1,40}?)\s[–—-]{1,2}\s(.+)$/u.exec(text);
  const [, speaker = "", said = ""] = found ?? [];
  return found === null || !looksLikeName(stripExtension(speaker)) ? null : { speaker: speaker.trim(), text: said };
}
