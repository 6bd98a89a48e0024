const charactersPerSecond = 14;
const ideographsPerSecond = 4.5;
/** Before, between and after lines. */
const pauseSeconds = 0.8;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** The approximate speaking time, with pauses. */
export function estimateSpeakingSeconds(text: string): number {
  const ideographCount = text.match(ideographs)?.length ?? 0;
  return ideographCount / ideographsPerSecond + (text.length - ideographCount) / charactersPerSecond + pauseSeconds;
}

/** Whether a text can be spoken; punctuation and emoji alone are only captioned. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
