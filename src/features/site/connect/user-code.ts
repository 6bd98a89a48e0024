/** Distinguishable consonants; without vowels they form no words. */
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const userCodeLetters = 8;
/** Bytes from here on are rejected, to keep the distribution uniform. */
const fairByteEnd = 256 - (256 % letters.length);

/** A code to type, such as `BCDF-GHJK`: one of 25 billion. */
export function makeUserCode(randomBytes: (count: number) => Uint8Array): string {
  let code = "";
  while (code.length < userCodeLetters) {
    for (const byte of randomBytes(userCodeLetters - code.length)) {
      if (byte < fairByteEnd) code += letters.charAt(byte % letters.length);
    }
  }
  return presentUserCode(code);
}

/** Parses a typed code; `null` if invalid. */
export function readUserCode(typed: string): string | null {
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, "");
  const isCode = code.length === userCodeLetters && [...code].every((letter) => letters.includes(letter));
  return isCode ? presentUserCode(code) : null;
}

function presentUserCode(code: string): string {
  return `${code.slice(0, userCodeLetters / 2)}-${code.slice(userCodeLetters / 2)}`;
}
