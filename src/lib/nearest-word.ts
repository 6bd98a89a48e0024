/** The closest known word, or `null`; the first of several equally close ones. */
export function findNearest(typed: string, known: readonly string[]): string | null {
  const begun = known.find((word) => typed.length >= prefixLengthMin && word.startsWith(typed));
  if (begun !== undefined) return begun;
  let nearest: string | null = null;
  // One typo per three letters, at least one.
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const word of known) {
    const edits = countEdits(typed, word);
    if (edits < least) [nearest, least] = [word, edits];
  }
  return nearest;
}

const prefixLengthMin = 3;

/** Words are cut to this length, so that a long one takes no time. */
const comparedCharactersMax = 64;

/** The closest known words, closest first. A word that contains the typed one, or is part of it, counts as closest. */
export function listNearest(typed: string, known: readonly string[], countMax: number): string[] {
  const asked = typed.slice(0, comparedCharactersMax).toLowerCase();
  const rank = (word: string): number => {
    const compared = word.slice(0, comparedCharactersMax).toLowerCase();
    return asked.includes(compared) || compared.includes(asked) ? 0 : countEdits(asked, compared);
  };
  return known
    .map((word) => ({ word, edits: rank(word) }))
    .toSorted((one, other) => one.edits - other.edits)
    .slice(0, countMax)
    .map(({ word }) => word);
}

/** The Damerau-Levenshtein distance. */
function countEdits(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
