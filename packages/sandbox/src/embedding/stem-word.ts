/** Suffixes of English words, longest first. */
const suffixes = "ations ation ments ment ingly edly ness ings ing ities ity ies ied ers ed er es ly s y e".split(" ");
const lettersMin = 3;

/** A rough stem. Words of other languages mostly stay unchanged. */
export function stemWord(word: string): string {
  let stem = word;
  for (let round = 0; round < 2; round += 1) {
    const suffix = suffixes.find((end) => stem.endsWith(end) && stem.length - end.length >= lettersMin);
    if (suffix === undefined) break;
    stem = stem.slice(0, -suffix.length);
  }
  // English doubles the consonant before some suffixes.
  return /([bdgklmnprt])\1$/.test(stem) && stem.length > lettersMin ? stem.slice(0, -1) : stem;
}
