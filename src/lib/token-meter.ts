/**
 * Counts what a model writes without a tokenizer, in constant memory: about four characters of a Latin text make a token,
 * and each character of most other scripts is one. It counts where the upstream reports nothing, so it is meant to be
 * fair and not to be exact.
 */
export type TokenMeter = {
  add(text: string): void;
  /** Rounded up: whoever wrote something has written a token. */
  tokens(): number;
};

const latinCharactersPerToken = 4;
const lastLatin = 0x24f;

export function createTokenMeter(): TokenMeter {
  return new CharacterMeter();
}

/** A class, because there is one for each stream. */
class CharacterMeter implements TokenMeter {
  private latin = 0;
  private other = 0;

  add(text: string): void {
    let latin = 0;
    let other = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code <= lastLatin) latin += 1;
      // The second half of a pair belongs to the character that the first half was counted for.
      else if (code < 0xdc00 || code > 0xdfff) other += 1;
    }
    this.latin += latin;
    this.other += other;
  }

  tokens(): number {
    return Math.ceil(this.latin / latinCharactersPerToken) + this.other;
  }
}

export function countTokens(text: string): number {
  const meter = createTokenMeter();
  meter.add(text);
  return meter.tokens();
}
