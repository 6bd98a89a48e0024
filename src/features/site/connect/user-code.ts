/** Consonants that are not taken for one another; without vowels they make no words. */
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const userCodeLetters = 8;
/** Bytes from here on would make some letters likelier than others. */
const fairByteEnd = 256 - (256 % letters.length);

/** What a person reads on one machine and types on another: `BCDF-GHJK`, one of 25 thousand million. */
export function makeUserCode(randomBytes: (count: number) => Uint8Array): string {
  let code = "";
  while (code.length < userCodeLetters) {
    for (const byte of randomBytes(userCodeLetters - code.length)) {
      if (byte < fairByteEnd) code += letters.charAt(byte % letters.length);
    }
  }
  return presentUserCode(code);
}

/** The code that somebody typed, however they did; `null` when it can be none. */
export function readUserCode(typed: string): string | null {
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, "");
  const isCode = code.length === userCodeLetters && [...code].every((letter) => letters.includes(letter));
  return isCode ? presentUserCode(code) : null;
}

function presentUserCode(code: string): string {
  return `${code.slice(0, userCodeLetters / 2)}-${code.slice(userCodeLetters / 2)}`;
}
