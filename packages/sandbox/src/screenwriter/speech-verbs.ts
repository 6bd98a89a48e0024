/** Speech verbs of languages that separate words. */
const verbs =
  "said|says|say|asked|asks|ask|replied|replies|answered|answers|whispered|whispers|shouted|shouts|cried|cries|murmured|murmurs|muttered|yelled|called|calls|exclaimed|added|adds|told|tells|laughed|sighed|began|continued|sang|screamed|growled|agreed|admitted|explained|insisted|repeated|warned|promised|begged|groaned|wondered";

const verbPattern = new RegExp(`(?<![\\p{L}\\p{M}])(?:${verbs})(?![\\p{L}\\p{M}])`, "iu");
const chineseVerbs = "说道|說道|问道|問道|喊道|叫道|答道|笑道|回答|说|說|问|問|喊|叫";
const chineseTag = new RegExp(`(?:${chineseVerbs})[：:，,。了着]?$`, "u");
const chineseTeller = new RegExp(
  `(?:^|[，。！？,.!?\\s”」])([\\p{Script=Han}]{2,3}?)(?:[\\p{Script=Han}]{0,4}[着地]|大声|小声|轻声|低声|高声|悄悄|又|也|就)?(?:${chineseVerbs})(?:了|着)?[：:，,。]?$`,
  "u",
);

const capitalised = "(?:(?:Mr|Mrs|Ms|Dr|Prof)\\.\\s)?\\p{Lu}[\\p{L}\\p{M}'’-]{0,30}";
const nameAfter = new RegExp(`(?:${verbs})\\s(${capitalised}(?:\\s${capitalised})?)`, "u");
const nameBefore = new RegExp(
  `(${capitalised}(?:\\s${capitalised})?)\\s(?:[\\p{Ll}’']{1,14}\\s){0,2}?(?:${verbs})(?![\\p{L}\\p{M}])`,
  "u",
);
const nounAfter = new RegExp(
  `(?:${verbs})\\s(?:the|an?)\\s((?:[\\p{L}\\p{M}-]{2,20})(?:\\s(?:man|woman|boy|girl|dog|cat|king|queen|wolf|fox|bear|captain|child|lady|bird|robot|voice))?)`,
  "iu",
);
const nounBefore = new RegExp(
  `(?:^|\\s)the\\s([\\p{L}\\p{M}-]{2,20}(?:\\s[\\p{L}\\p{M}-]{2,20})?)\\s(?:${verbs})(?![\\p{L}\\p{M}])`,
  "iu",
);
const silentThings = /^(?:sign|note|letter|book|label|screen|poster|message|card)$/i;
const pronouns = /(?<![\p{L}\p{M}])(?:he|she|they|both|it)(?![\p{L}\p{M}])|[他她它]|两人|兩人|二人/iu;
const pluralPronouns = /(?<![\p{L}\p{M}])(?:they|both)(?![\p{L}\p{M}])|[他她]们|两人|兩人|二人/iu;
const personNouns =
  /(?<![\p{L}\p{M}])(?:girl|boy|man|woman|king|queen|child|lady|captain|doctor|nurse|teacher|soldier|stranger|wizard|witch)(?![\p{L}\p{M}])|女孩|男孩|老人|男人|女人|少年|少女|国王|王后/giu;
const sentenceOpeners =
  /^(?:Nobody|No|Everyone|Everybody|Then|But|And|So|Now|When|As|He|She|They|It|I|We|You|The|An?)$/;

/** Whether a part of a sentence has a speech verb. */
export function hasSpeechVerb(text: string): boolean {
  return verbPattern.test(text) || chineseTag.test(text);
}

/** The speaker in a part of a sentence: a known person first, else a name beside the verb; `null` if none. */
export function findTeller(text: string, known: readonly string[]): string | null {
  const part = text.slice(-120);
  if (!hasSpeechVerb(part)) return null;
  const named = findNamed(part, known);
  if (named !== null) return named;
  return chineseTeller.exec(part)?.[1] ?? findEnglishTeller(part);
}

/** A person without a name: "a girl in a yellow coat". The last of several. */
export function findPerson(text: string): string | null {
  return [...text.slice(-300).matchAll(personNouns)].at(-1)?.[0] ?? null;
}

/** The known person that a text names; the last of several. */
export function findNamed(text: string, known: readonly string[]): string | null {
  const lower = text.toLowerCase();
  let found: { name: string; at: number } | null = null;
  for (const name of known) {
    for (const word of [name, name.split(" ")[0] ?? name]) {
      const at = lower.lastIndexOf(word.toLowerCase());
      if (at < 0 || !standsAlone(lower, at, word.length)) continue;
      if (found === null || at > found.at) found = { name, at };
    }
  }
  return found?.name ?? null;
}

/** "They" are the speakers of a scene, "she" is the person seen last. */
export function hasPluralPronoun(text: string): boolean {
  return pluralPronouns.test(text);
}

export function hasPronoun(text: string): boolean {
  return pronouns.test(text);
}

function findEnglishTeller(text: string): string | null {
  const name = nameAfter.exec(text)?.[1];
  if (name !== undefined && !sentenceOpeners.test(name)) return name;
  const before = nameBefore.exec(text)?.[1];
  const words = before?.split(" ").filter((word) => !sentenceOpeners.test(word)) ?? [];
  if (words.length > 0) return words.join(" ");
  const noun = nounAfter.exec(text)?.[1] ?? nounBefore.exec(text)?.[1];
  return noun === undefined || hasPronoun(noun) || silentThings.test(noun) ? null : noun;
}

/** "Ann" does not match in "Anna"; scripts without spaces have no word boundaries. */
function standsAlone(text: string, at: number, length: number): boolean {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text.slice(at, at + length)))
    return true;
  const [before, after] = [text.slice(Math.max(0, at - 1), at), text.slice(at + length, at + length + 1)];
  return !/[\p{L}\p{M}]/u.test(before) && !/[\p{L}\p{M}]/u.test(after);
}
