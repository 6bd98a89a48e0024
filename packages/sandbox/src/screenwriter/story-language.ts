import { listWords } from "../chat/sandbox-languages.ts";

const readCharactersMax = 20_000;
const judgedWordsMin = 8;
const englishWords = new Set("the is are and of to you with she he it that my what they this there have".split(" "));

/** Scripts without spaces, in which one character takes as long to say as a few letters. */
export const denseSigns = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The two languages that the screenwriter knows; `und` (BCP 47) for any other. */
export type StoryLanguage = "en" | "zh" | "und";

/** By the script of most letters; English by default. */
export function detectStoryLanguage(text: string): StoryLanguage {
  const read = text.slice(0, readCharactersMax);
  const latin = countMatches(read, /\p{Script=Latin}/gu);
  const others = countMatches(read, /[\p{L}--\p{Script=Latin}]/gv);
  // A Chinese character is worth about a word, so a third is enough. Japanese mixes kana with them.
  if (others > 0 && others * 3 >= latin) {
    const isChinese = /\p{Script=Han}/u.test(read) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(read);
    return isChinese ? "zh" : "und";
  }
  const words = listWords(read);
  return words.length >= judgedWordsMin && !words.some((word) => englishWords.has(word)) ? "und" : "en";
}

export function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
