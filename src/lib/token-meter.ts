/**
 * Estimates output tokens without a tokenizer, in constant memory: four Latin characters, or one character of most other
 * scripts, count as a token. Used only if the upstream reports no usage.
 */
export type TokenMeter = {
  add(text: string): void;
  /** Reported by the upstream so far. */
  report(tokens: number): void;
  /** Rounded up: any text is at least one token. */
  tokens(): number;
  /** An upper bound for any tokenizer: one token per byte and per empty delta. For limits, never for charging. */
  tokensMax(): number;
  /** Our count by characters alone, without reports. */
  tokensCounted(): number;
  /** A lower bound for any tokenizer, to detect an exceeded cap; never for charging. */
  tokensMin(): number;
};

const latinCharactersPerToken = 4;
/** No tokenizer packs a whole answer tighter, even with long words and runs of spaces. */
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
      // Skip low surrogates: the high surrogate was counted.
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
