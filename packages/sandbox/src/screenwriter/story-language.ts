import { listWords } from "../chat/sandbox-languages.ts";

const readCharactersMax = 20_000;
const judgedWordsMin = 8;
const englishWords = new Set("the is are and of to you with she he it that my what they this there have".split(" "));

/** Whether words are written without spaces and one sign takes as long to say as a few letters. */
export const denseSigns = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The two languages that the screenwriter knows, and `und`, as the standard has it, where a text is surely in another. */
export type StoryLanguage = "en" | "zh" | "und";

/** By the letters that most of a text is written in; English where nothing speaks for another. */
export function detectStoryLanguage(text: string): StoryLanguage {
  const read = text.slice(0, readCharactersMax);
  const latin = countMatches(read, /\p{Script=Latin}/gu);
  const others = countMatches(read, /[\p{L}--\p{Script=Latin}]/gv);
  // A character of Chinese says as much as a word: a third is enough. Kana stand among many of them.
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
