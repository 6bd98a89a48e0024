const readingSecondsMin = 1.2;
const lettersPerSecond = 15;
const ideographsPerSecond = 5;
const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Reading time without the minimum. */
export function weighText(text: string): number {
  const ideographCount = text.match(ideograph)?.length ?? 0;
  return ([...text].length - ideographCount) / lettersPerSecond + ideographCount / ideographsPerSecond;
}

/** How long a line without audio is shown. */
export function estimateReadingSeconds(text: string): number {
  return Math.max(readingSecondsMin, weighText(text));
}
