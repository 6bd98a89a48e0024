/**
 * Counts what a model writes without a tokenizer, in constant memory: about four characters of a Latin text make a token,
 * and each character of most other scripts is one. It counts where the upstream reports nothing, so it is meant to be
 * fair and not to be exact.
 */
export type TokenMeter = {
  add(text: string): void;
  /** Reported by the upstream so far. */
  report(tokens: number): void;
  /** Rounded up: any text is at least one token. */
  tokens(): number;
  /**
   * More than this it cannot be, whatever the tokenizer: each byte is a token, and so is each addition without text. For
   * deciding how much may have been spent, never for charging.
   */
  tokensMax(): number;
  /** Our count by characters alone, without reports. */
  tokensCounted(): number;
  /** Fewer than this it cannot be, whatever the tokenizer: for deciding that a cap was passed, never for charging. */
  tokensMin(): number;
};

const latinCharactersPerToken = 4;
/** Long words, runs of spaces and dense scripts: no tokenizer packs a whole answer tighter. */
const latinCharactersPerTokenMax = 12;
const otherCharactersPerTokenMax = 3;
const lastLatin = 0x24f;
const lastAscii = 0x7f;

export function createTokenMeter(): TokenMeter {
  return new CharacterMeter();
}

/** A class saves memory: one instance per stream. */
class CharacterMeter implements TokenMeter {
  private latin = 0;
  private other = 0;
  private bytesMax = 0;
  private reported = 0;

  add(text: string): void {
    let latin = 0;
    let other = 0;
    let bytesMax = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code <= lastLatin) {
        latin += 1;
        bytesMax += code <= lastAscii ? 1 : 2;
        continue;
      }
      bytesMax += 3;
      // The second half of a pair belongs to the character that the first half was counted for.
      if (code < 0xdc00 || code > 0xdfff) other += 1;
    }
    this.latin += latin;
    this.other += other;
    this.bytesMax += text === "" ? 1 : bytesMax;
  }

  report(tokens: number): void {
    this.reported = Math.max(this.reported, tokens);
  }

  tokens(): number {
    return Math.max(this.tokensCounted(), this.reported);
  }

  tokensCounted(): number {
    return Math.ceil(this.latin / latinCharactersPerToken) + this.other;
  }

  tokensMin(): number {
    return Math.floor(this.latin / latinCharactersPerTokenMax + this.other / otherCharactersPerTokenMax);
  }

  tokensMax(): number {
    return Math.max(this.bytesMax, this.reported);
  }
}

export function countTokens(text: string): number {
  const meter = createTokenMeter();
  meter.add(text);
  return meter.tokens();
}
