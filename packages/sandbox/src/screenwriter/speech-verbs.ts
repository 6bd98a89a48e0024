/** Verbs that tell who said something, where words stand apart. */
const verbs = [
  "said says say asked asks ask replied replies answered answers whispered whispers shouted shouts cried cries murmured murmurs muttered yelled called calls exclaimed added adds told tells laughed sighed began continued sang screamed growled agreed admitted explained insisted repeated warned promised begged groaned wondered",
  "sagte sagt fragte fragt antwortete antwortet rief ruft flüsterte flüstert schrie murmelte meinte meint erwiderte lachte seufzte erklärte brummte",
  "dit demanda demande répondit répond murmura murmure cria crie écria chuchota ajouta soupira lança souffla disait répliqua",
  "dijo dice preguntó pregunta respondió responde susurró gritó exclamó contestó murmuró añadió",
  "disse chiese rispose sussurrò gridò esclamò mormorò perguntou respondeu sussurrou gritou exclamou",
  "сказал сказала спросил спросила ответил ответила крикнул крикнула прошептал прошептала воскликнул воскликнула",
  "قال قالت سأل سألت أجاب أجابت ردت همس همست صاح صاحت صرخ صرخت אמר אמרה שאל שאלה ענה ענתה",
  "말했다 물었다 대답했다 외쳤다 속삭였다 말했습니다 물었습니다",
]
  .join(" ")
  .replaceAll(" ", "|");

const verbPattern = new RegExp(`(?<![\\p{L}\\p{M}])(?:${verbs})(?![\\p{L}\\p{M}])`, "iu");
const chineseVerbs = "说道|說道|问道|問道|喊道|叫道|答道|笑道|回答|说|說|问|問|喊|叫";
const chineseTag = new RegExp(`(?:${chineseVerbs})[：:，,。了着]?$`, "u");
const chineseTeller = new RegExp(
  `(?:^|[，。！？,.!?\\s”」])([\\p{Script=Han}]{2,3}?)(?:[\\p{Script=Han}]{0,4}[着地]|大声|小声|轻声|低声|高声|悄悄|又|也|就)?(?:${chineseVerbs})(?:了|着)?[：:，,。]?$`,
  "u",
);
const japaneseTeller =
  /([\p{Script=Han}\p{Script=Katakana}ー]{1,8}|[\p{Script=Hiragana}]{2,6}?)[はが](?:[\p{L}ー、]{0,12})?(?:言|聞|尋|答|叫|つぶや|ささや|呟|囁|話|笑)/u;
const koreanTeller = /(\p{Script=Hangul}{1,6}?)(?:이|가|은|는)\s.{0,20}?(?:말했|물었|대답했|외쳤|속삭였)/u;

const capitalised = "(?:(?:Mr|Mrs|Ms|Dr|Prof)\\.\\s)?\\p{Lu}[\\p{L}\\p{M}'’-]{0,30}";
const nameAfter = new RegExp(`(?:${verbs})\\s(?:-t-)?(${capitalised}(?:\\s${capitalised})?)`, "u");
const nameBefore = new RegExp(
  `(${capitalised}(?:\\s${capitalised})?)\\s(?:[\\p{Ll}’']{1,14}\\s){0,2}?(?:${verbs})(?![\\p{L}\\p{M}])`,
  "u",
);
const nounAfter = new RegExp(
  `(?:${verbs})\\s(?:the|an?|der|die|das|ein|eine|le|la|l[’']|un|une|el|una|il|lo|o|a)\\s?((?:[\\p{L}\\p{M}-]{2,20})(?:\\s(?:man|woman|boy|girl|dog|cat|king|queen|mann|frau|homme|femme|hombre|mujer|wolf|fox|bear|captain|child|lady|bird|robot|voice))?)`,
  "iu",
);
const nounBefore = new RegExp(
  `(?:^|\\s)(?:the|der|die|das|le|la|el|il)\\s([\\p{L}\\p{M}-]{2,20}(?:\\s[\\p{L}\\p{M}-]{2,20})?)\\s(?:${verbs})(?![\\p{L}\\p{M}])`,
  "iu",
);
const silentThings = /^(?:sign|note|letter|book|label|screen|poster|message|card|schild|brief|lettre|carta)$/i;
const pronouns =
  /(?<![\p{L}\p{M}])(?:he|she|they|both|beide|it|er|sie|il|elle|ils|elles|él|ella|ellos|lui|lei|ele|ela|он|она|они|هو|هي)(?![\p{L}\p{M}])|[他她它]|两人|兩人|二人|彼女?[らはが]/iu;
const personNouns =
  /(?<![\p{L}\p{M}])(?:girl|boy|man|woman|king|queen|child|lady|captain|doctor|nurse|teacher|soldier|stranger|wizard|witch|mädchen|junge|mann|frau|könig|königin|fille|garçon|homme|femme|roi|reine|chica|chico|niña|niño|hombre|mujer)(?![\p{L}\p{M}])|女孩|男孩|老人|男人|女人|少年|少女|国王|王后/giu;
const pluralPronouns =
  /(?<![\p{L}\p{M}])(?:they|both|ils|elles|ellos|ellas|beide|они)(?![\p{L}\p{M}])|[他她]们|两人|兩人|二人|彼ら/iu;
const arabicName = /(?:قالت?|سألت?|أجابت?|ردت|همست?|صاحت?|صرخت?)\s(\p{Script=Arabic}{2,20})/u;
const sentenceOpeners =
  /^(?:Nobody|No|Everyone|Everybody|Niemand|Alle|Personne|Nadie|Then|But|And|So|Now|When|As|He|She|They|It|I|We|You|Er|Sie|Es|Ich|Wir|Dann|Da|Und|Aber|Il|Elle|Je|Nous|Puis|Mais|Él|Ella|Yo|Luego|Pero|The|A|An|Der|Die|Das|Le|La|Les|Un|Une|El|Los|Las|Он|Она|И|А|Но)$/u;

/** Whether a part of a sentence tells that somebody speaks. */
export function hasSpeechVerb(text: string): boolean {
  return verbPattern.test(text) || chineseTag.test(text) || isJapaneseTag(text);
}

/** Who a part of a sentence says speaks: somebody known first, else a name beside the verb; `null` for nobody. */
export function findTeller(text: string, known: readonly string[]): string | null {
  const part = text.slice(-120);
  if (!hasSpeechVerb(part)) return null;
  const named = findNamed(part, known);
  if (named !== null) return named;
  const dense =
    chineseTeller.exec(part)?.[1] ??
    japaneseTeller.exec(part)?.[1] ??
    koreanTeller.exec(part)?.[1] ??
    arabicName.exec(part)?.[1];
  if (dense !== undefined) return dense;
  return findLatinTeller(part);
}

/** Somebody who has no name: "a girl in a yellow coat". The last of several. */
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

/** "They" are those who speak in a scene, "she" is whoever was seen last. */
export function hasPluralPronoun(text: string): boolean {
  return pluralPronouns.test(text);
}

export function hasPronoun(text: string): boolean {
  return pronouns.test(text);
}

function findLatinTeller(text: string): string | null {
  const name = nameAfter.exec(text)?.[1];
  if (name !== undefined && !sentenceOpeners.test(name)) return name;
  const before = nameBefore.exec(text)?.[1];
  const words = before?.split(" ").filter((word) => !sentenceOpeners.test(word)) ?? [];
  if (words.length > 0) return words.join(" ");
  const noun = nounAfter.exec(text)?.[1] ?? nounBefore.exec(text)?.[1];
  return noun === undefined || hasPronoun(noun) || silentThings.test(noun) ? null : noun;
}

function isJapaneseTag(text: string): boolean {
  return /[とはが].{0,14}(?:言|聞い|尋ね|答え|叫|つぶや|ささや|呟|囁)/u.test(text);
}

/** "Ann" is not found in "Anna"; where words are not parted, anything stands alone. */
function standsAlone(text: string, at: number, length: number): boolean {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text.slice(at, at + length)))
    return true;
  const [before, after] = [text.slice(Math.max(0, at - 1), at), text.slice(at + length, at + length + 1)];
  return !/[\p{L}\p{M}]/u.test(before) && !/[\p{L}\p{M}]/u.test(after);
}
