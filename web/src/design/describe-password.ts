const passwordLengthMin = 8;
const passwordLengthAdvised = 15;
const differentCharactersMin = 5;

/**
 * What can honestly be said of a password by looking at it. Length is what counts; whether it is a common one, only the
 * server knows, and nobody can know whether it is used elsewhere.
 */
export function describePassword(password: string): string {
  const characters = [...password];
  if (characters.length === 0)
    return `At least ${passwordLengthMin} characters; ${passwordLengthAdvised} or more are better. Several words do well.`;
  if (characters.length < passwordLengthMin) {
    const missing = passwordLengthMin - characters.length;
    return `${missing} more ${missing === 1 ? "character" : "characters"} needed.`;
  }
  if (new Set(characters).size < differentCharactersMin) return "Long enough, but easy to guess: it repeats itself.";
  if (characters.length < passwordLengthAdvised) {
    return `Long enough. With ${passwordLengthAdvised} characters or more it is much harder to guess.`;
  }
  return "A good length. Use it nowhere else.";
}
