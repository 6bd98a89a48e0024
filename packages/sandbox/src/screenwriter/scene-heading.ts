import { dropParentheses, writeName } from "./role-names.ts";
import { readTimeToken } from "./time-words.ts";

export type SceneHeading = {
  /** As written. */
  text: string;
  /** The place as written; empty if the heading has none. */
  place: string;
  /** In English; `null` if the heading has none. */
  time: string | null;
  /** The words for the time, as written. */
  timeWords: string;
  isInside: boolean | null;
  /** Definitely a scene; other headings may be a chapter's or the story's. */
  isSlug: boolean;
};

const headingCharactersMax = 140;

const numberBefore = /^(?:#?\d{1,4}[a-z]?(?:-\d{1,3})?\s*[.)、．:：]?\s+|#?\d{1,4}\s*[、．)]\s*)/i;
const shortSlug = /^(?:INT|EXT|EST|I\/E|INT\.?\s?\/\s?EXT|EXT\.?\s?\/\s?INT)(?=[\s.:/])/u;
const dottedSlug = /^(?:int|ext|i\/e|int\.?\/ext)\.\s/i;
const longSlug = /^(?:interior|exterior)(?=[\s.:/,–-])/iu;
const denseSlug = /^(?:内景|外景|內景|室内|室外|屋内|屋外)(?=[\s.:：、，,–-]|$)/u;
const insideWords = /^(?:int|interior|内景?|內景?|室内|屋内|[日夜晨昏]内|内[日夜])\.?$/iu;
const outsideWords = /^(?:ext|exterior|外景?|室外|屋外|[日夜晨昏]外|外[日夜])\.?$/iu;
const denseSetting = /^(?:[日夜晨昏早晚]?[内外內]景?|[内外內]景?[日夜晨昏早晚])$/u;

const wordNumbers = "[ivxlc]{1,6}|one|two|three|four|five|six|seven|eight|nine|ten";
const sceneNumber = new RegExp(
  `^(?:scene|act|chapter|part|sequence)\\s{0,3}(?:#?\\d{1,4}[a-z]?(?![\\p{L}\\p{N}])\\s{0,3}[:：.)\\-–—|,]{0,3}|(?:${wordNumbers})\\s{0,3}(?:[:：.)\\-–—|,]{1,3}|$))\\s{0,3}(.*)$`,
  "iu",
);
const denseNumber = /^第\s?[一二三四五六七八九十百零〇两\d]{1,5}\s?[场場幕集章回节節景]\s?[:：、.]?\s?(.*)$/u;
const denseScene = /^(?:场景|場景|场次|場次|分场)\s?[一二三四五六七八九十百\d]{0,4}\s?[:：、.\s]\s?(.*)$/u;

/** Parses the usual forms of scene headings; `null` for any other line. */
export function parseSceneHeading(line: string): SceneHeading | null {
  if (line.length > headingCharactersMax) return null;
  const numbered = sceneNumber.exec(line)?.[1] ?? denseNumber.exec(line)?.[1] ?? denseScene.exec(line)?.[1];
  if (numbered !== undefined) return readHeading(line, numbered, { isSlug: false });
  if (/^\.[^.\s]/.test(line)) return readHeading(line.slice(1), line.slice(1), { isSlug: true });
  const bare = line.replace(numberBefore, "");
  return isSlug(bare) || isDenseSlug(bare) ? readHeading(line, bare, { isSlug: true }) : null;
}

/** Parses a line that is known to be a heading. */
export function readHeading(line: string, body: string, { isSlug }: { isSlug: boolean }): SceneHeading {
  const heading: SceneHeading = { text: line.trim(), place: "", time: null, timeWords: "", isInside: null, isSlug };
  const places: string[] = [];
  for (const token of splitTokens(body)) {
    const time = readTimeToken(token);
    if (insideWords.test(token)) heading.isInside ??= true;
    else if (outsideWords.test(token)) heading.isInside ??= false;
    else if (time === null) places.push(token);
    else if (time !== "same") [heading.time, heading.timeWords] = [time, token];
    // 夜内 in a heading is a time and a setting.
    if (denseSetting.test(token) && heading.time === null)
      heading.time = readTimeToken(token.replace(/[内外內景]+/u, ""));
  }
  return { ...heading, place: places.join(", ") };
}

/** All-caps places in title case: "ANNA'S KITCHEN" becomes "Anna's kitchen". */
export function writePlace(place: string, names: readonly string[]): string {
  if (/\p{Ll}/u.test(place)) return place;
  let written = place.toLowerCase();
  for (const name of names.slice(0, 40)) {
    const at = written.indexOf(name.toLowerCase());
    if (at >= 0) written = written.slice(0, at) + writeName(name) + written.slice(at + name.length);
  }
  return written;
}

function isSlug(line: string): boolean {
  if (shortSlug.test(line) || dottedSlug.test(line)) return true;
  if (!longSlug.test(line)) return false;
  // "Interior design bored her." is a sentence; a heading is in capitals, or has punctuation after its first word.
  return !/\p{Ll}/u.test(line) || /^[\p{L}/]{3,20}\s?[.:/,–-]/u.test(line);
}

function isDenseSlug(line: string): boolean {
  if (line.length > 40 || /[。！？!?]/u.test(line)) return false;
  if (denseSlug.test(line)) return true;
  const tokens = splitTokens(line);
  return tokens.length >= 2 && tokens.some((token) => denseSetting.test(token));
}

function splitTokens(body: string): string[] {
  const plain = dropParentheses(body);
  const spaced =
    /\p{Script=Han}/u.test(plain) && !/[\p{Script=Latin}]/u.test(plain) ? plain.replaceAll(" ", " - ") : plain;
  return spaced
    .replace(/^(int|ext|i)\.?\s?\/\s?(ext|int|e)[\s.]+/i, "")
    .replace(/^((?:int|ext|est)\.?|[^\s.]{3,12}\.)\s+/i, (first) => `${first} - `)
    .replace(/^(INT|EXT|EST|interior|exterior|内景|外景)\s(?![-–—])/iu, (first) => `${first} - `)
    .split(/\s[-–—|]+\s|\s?[–—|,，、;；:：]\s?|\.\s/u)
    .map((token) => token.trim().replace(/[.\s]$/, ""))
    .filter((token) => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(token));
}
