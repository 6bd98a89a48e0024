const narratorNames = new Set(
  "narrator, narration, voice over, voiceover, voice-over, v.o., vo, storyteller, 旁白, 画外音, 畫外音, 解说, 旁述".split(
    ", ",
  ),
);

/** Lower-case words inside names. */
const particles = new Set("von van der den de la le du di da del the of al el bin ibn and & in".split(" "));

export function isNarratorName(name: string): boolean {
  return narratorNames.has(name.trim().toLowerCase());
}

export type NameBook = {
  /** The canonical name: the caller's spelling, else the first one in the script. */
  resolve(written: string): string;
  /** Whether the caller gave this name. */
  isGiven(written: string): boolean;
  given: readonly string[];
};

/** Resolves different spellings of a name. */
export function createNameBook(given: readonly string[]): NameBook {
  const byKey = new Map<string, string>();
  for (const name of given) if (!byKey.has(keyOf(name))) byKey.set(keyOf(name), name);
  const isGiven = (written: string): boolean => findGiven(written) !== null;

  function findGiven(written: string): string | null {
    const key = keyOf(written);
    const exact = given.find((name) => keyOf(name) === key);
    if (exact !== undefined) return exact;
    // "ANNA" is Anna Schmidt if there is no other Anna; "Anna said" is not a name.
    if (!looksLikeName(written)) return null;
    const words = key.split(" ");
    const matches = given.filter((name) => sharesFirstName(keyOf(name).split(" "), words));
    return new Set(matches.map(keyOf)).size === 1 ? (matches[0] ?? null) : null;
  }

  return {
    given,
    isGiven,
    resolve(written) {
      const found = findGiven(written) ?? findFirstOfSeveral(written);
      if (found !== null) return found;
      const key = keyOf(written);
      const known = byKey.get(key);
      if (known !== undefined) return known;
      const name = writeName(written);
      byKey.set(key, name);
      return name;
    },
  };

  /** A line of two speakers is spoken by the first. */
  function findFirstOfSeveral(written: string): string | null {
    const parts = written.split(/\s+(?:&|and)\s+|[、/+]/iu).map((part) => part.trim());
    if (parts.length < 2) return null;
    const known = parts.map((part) => (part === "" ? null : (findGiven(part) ?? byKey.get(keyOf(part)) ?? null)));
    return known.includes(null) ? null : (known[0] ?? null);
  }
}

/** Whether the text before a colon, or alone on a line, can be a name. */
export function looksLikeName(text: string): boolean {
  const name = text.trim();
  if (name === "" || name.length > 40) return false;
  if (/\p{Extended_Pictographic}/u.test(name)) return name.length <= 8;
  if (/[!?。！？,，;；"“”«»「」…]/u.test(name) || /\.(?!$)(?<!(?:^|\s)\p{L}{1,4}\.)/u.test(name)) return false;
  const words = name.split(/\s+/);
  if (words.length > 4 || !/\p{L}/u.test(words[0] ?? "")) return false;
  if (!/[\p{Lu}\p{Ll}]/u.test(name)) return countSigns(name) <= 10 || words.length > 1;
  return words.every((word, index) => isNameWord(word, index));
}

/** "ANNA (V.O.)" becomes "ANNA". */
export function stripExtension(cue: string): string {
  const plain = dropParentheses(cue);
  return plain
    .replace(/[\s,]+(?:v\.?o\.?|o\.?s\.?|o\.?c\.?|cont['’]?d\.?|off)$/i, "")
    .replace(/[\s^]+$/, "")
    .trim();
}

/** Removes directions in parentheses. An unpaired parenthesis is a plain character. */
export function dropParentheses(text: string): string {
  if (!/[(（[［【]/u.test(text)) return text;
  const kept: string[] = [];
  const opens: number[] = [];
  for (const sign of text) {
    const from = ")）]］】".includes(sign) ? opens.pop() : undefined;
    if (from !== undefined) {
      kept.length = from;
      continue;
    }
    if ("(（[［【".includes(sign)) opens.push(kept.length);
    kept.push(sign);
  }
  return kept
    .join("")
    .replaceAll(/ {2,}/g, " ")
    .replaceAll(/ +([.,!?])/g, "$1")
    .trim();
}

/** In title case: "MR. SMITH" becomes "Mr. Smith"; "McCLANE" stays. */
export function writeName(written: string): string {
  const name = written.trim().replaceAll(/\s+/g, " ");
  const isShouted = /\p{Lu}/u.test(name) && !/\p{Ll}/u.test(name);
  if (!isShouted) return name.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  return name.toLowerCase().replaceAll(/(?<![\p{L}\p{M}])\p{Ll}/gu, (letter) => letter.toUpperCase());
}

export function keyOf(name: string): string {
  return name.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function sharesFirstName(a: readonly string[], b: readonly string[]): boolean {
  return a[0] === b[0] && (a.length === 1 || b.length === 1);
}

function isNameWord(word: string, index: number): boolean {
  if (index > 0 && particles.has(word.toLowerCase())) return true;
  return /^[\p{Lu}\p{N}#&]/u.test(word) || !/\p{Ll}/u.test(word);
}

function countSigns(text: string): number {
  return Array.from(text).length;
}

/** Replaces all-caps names, which screenplays use at a first appearance. */
export function quietNames(text: string, names: readonly string[]): string {
  let quiet = text;
  for (const name of names) {
    const shouted = name.toUpperCase();
    if (shouted !== name && shouted.length > 1 && quiet.includes(shouted))
      quiet = quiet.replaceAll(shouted, () => name);
  }
  return quiet;
}
