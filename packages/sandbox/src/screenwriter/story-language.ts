import { listWords } from "../chat/sandbox-languages.ts";

const readCharactersMax = 20_000;

const scripts: readonly [language: string, script: RegExp][] = [
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["ko", /\p{Script=Hangul}/gu],
  ["zh", /\p{Script=Han}/gu],
  ["ar", /\p{Script=Arabic}/gu],
  ["he", /\p{Script=Hebrew}/gu],
  ["ru", /\p{Script=Cyrillic}/gu],
  ["hi", /\p{Script=Devanagari}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["th", /\p{Script=Thai}/gu],
];

/** Small words that few other languages have. */
const smallWords: readonly [language: string, words: ReadonlySet<string>][] = [
  ["en", setOf("the is are was and of to you with she he it that my what they this there have")],
  ["de", setOf("der die das und ist nicht ein eine ich du sie er wir mit auf den dem zu wie was war im")],
  ["fr", setOf("le les est et une des je tu elle vous nous dans avec pas que qui au du où c était")],
  ["es", setOf("el los las y una del que con por está yo tú ella en se su qué pero hola muy")],
  ["it", setOf("il gli è e una del che con per non sono lei lui nel della di questo ciao ma")],
  ["pt", setOf("o os as e uma do da que com não você ela ele em no na são está um mas")],
];

/** By the letters that most of a text is written in, else by its small words; English where nothing speaks for another. */
export function detectStoryLanguage(text: string): string {
  const read = text.slice(0, readCharactersMax);
  const latin = countMatches(read, /\p{Script=Latin}/gu);
  const counts = scripts.map(([language, script]) => ({ language, count: countMatches(read, script) }));
  // A character of Chinese says as much as a word, and kana are found among many of them: a third is enough for either.
  const japanese = counts.find(({ language }) => language === "ja")?.count ?? 0;
  const han = counts.find(({ language }) => language === "zh")?.count ?? 0;
  if (japanese > 0 && japanese * 5 >= han && (japanese + han) * 3 >= latin) return "ja";
  const best = counts.toSorted((a, b) => b.count - a.count)[0];
  if (best !== undefined && best.count > 0 && best.count * 3 >= latin) return best.language;
  return detectBySmallWords(read);
}

/** Whether words are written without spaces and one sign takes as long to say as a few letters. */
export const denseSigns = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

function detectBySmallWords(text: string): string {
  const words = listWords(text);
  let found = "en";
  let countMax = 0;
  for (const [language, known] of smallWords) {
    const count = words.filter((word) => known.has(word)).length;
    if (count > countMax) [found, countMax] = [language, count];
  }
  return found;
}

export function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
