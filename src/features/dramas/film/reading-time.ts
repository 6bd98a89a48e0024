const readingSecondsMin = 1.2;
const lettersPerSecond = 15;
const ideographsPerSecond = 5;
const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** How long it takes to read a text, without the least that any caption is shown. */
export function weighText(text: string): number {
  const ideographCount = text.match(ideograph)?.length ?? 0;
  return ([...text].length - ideographCount) / lettersPerSecond + ideographCount / ideographsPerSecond;
}

/** How long a line is shown that nobody says. */
export function estimateReadingSeconds(text: string): number {
  return Math.max(readingSecondsMin, weighText(text));
}
