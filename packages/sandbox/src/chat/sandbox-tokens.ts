const ideographs = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const letter = `[[\\p{L}\\p{M}\\p{N}_]--[${ideographs}]]`;

/**
 * An ideograph, a word with the space before it, four letters of a long word, some white space, or a single character.
 */
const tokenPattern = new RegExp(`[${ideographs}]| ?${letter}{1,8}(?!${letter})| ?${letter}{4}|\\s{1,16}|.`, "gsv");

/** Longer texts are estimated, so that a huge prompt cannot block the event loop. */
export const countedCharactersMax = 65_536;
const charactersPerToken = 4;

/** Splits a text into tokens, lazily. Joined, they are the text. */
export function* splitTokens(text: string): Generator<string, void> {
  for (const [token] of text.matchAll(tokenPattern)) yield token;
}

export function countTokens(text: string, charactersMax = countedCharactersMax): number {
  let count = Math.ceil(Math.max(0, text.length - charactersMax) / charactersPerToken);
  for (const _ of splitTokens(text.slice(0, charactersMax))) count += 1;
  return count;
}
