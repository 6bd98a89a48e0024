const passwordLengthMin = 8;
const passwordLengthAdvised = 15;
const differentCharactersMin = 5;

/** A hint from the password's visible properties. Length counts most; only the server checks for common passwords. */
export function describePassword(password: string): string {
  const characters = [...password];
  if (characters.length === 0)
    return `Use at least ${passwordLengthMin} characters. ${passwordLengthAdvised} or more are better, such as several words.`;
  if (characters.length < passwordLengthMin) {
    const missing = passwordLengthMin - characters.length;
    return `${missing} more ${missing === 1 ? "character" : "characters"} needed.`;
  }
  if (new Set(characters).size < differentCharactersMin)
    return "Too repetitive to be safe. Use more different characters.";
  if (characters.length < passwordLengthAdvised) {
    return `Long enough. ${passwordLengthAdvised} characters or more are much harder to guess.`;
  }
  return "Good length. Do not reuse it elsewhere.";
}
