/** Returns the closest known word, or `null` if none is close. Ties go to the first. */
export function findNearest(typed: string, known: readonly string[]): string | null {
  const begun = known.find((word) => typed.length >= shortestBeginning && word.startsWith(typed));
  if (begun !== undefined) return begun;
  let nearest: string | null = null;
  // Allow one typo per three letters, and at least one.
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const word of known) {
    const slips = countSlips(typed, word);
    if (slips < least) [nearest, least] = [word, slips];
  }
  return nearest;
}

const shortestBeginning = 3;

/** Damerau-Levenshtein distance (optimal string alignment). */
function countSlips(one: string, other: string): number {
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
