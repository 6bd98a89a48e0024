const charactersPerSecond = 14;
const ideographsPerSecond = 4.5;
/** Before, between and after what is said. */
const pauseSeconds = 0.8;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** About how long it takes to say something, pauses included. */
export function estimateSpeakingSeconds(text: string): number {
  const ideographCount = text.match(ideographs)?.length ?? 0;
  return ideographCount / ideographsPerSecond + (text.length - ideographCount) / charactersPerSecond + pauseSeconds;
}

/** Whether there is anything to say in it; signs and emoji alone are only shown. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
