type TimeOfDay = {
  name: string;
  /** As in "a kitchen at night". */
  phrase: string;
  insideLight: string;
  outsideLight: string;
  words: RegExp;
};

/** Earlier entries win: "midnight" is no noon, and 夜明け no night. */
const times: readonly TimeOfDay[] = [
  {
    name: "dawn",
    phrase: "at dawn",
    insideLight: "pale first light at the window",
    outsideLight: "pale first light",
    words: wordsOf(
      "dawn daybreak sunrise morgengrauen sonnenaufgang aube amanecer alba amanhecer",
      "黎明|清晨|凌晨|日出|破晓|夜明け|明け方|рассвет|الفجر|فجر|새벽|שחר",
    ),
  },
  {
    name: "dusk",
    phrase: "at dusk",
    insideLight: "the last light of the day at the window",
    outsideLight: "the last light of the day",
    words: wordsOf(
      "dusk twilight abenddämmerung dämmerung crépuscule anochecer crepuscolo crepúsculo",
      "黄昏|黃昏|傍晚|夕方|夕暮れ|сумерк|الغسق|황혼|דמדומים",
    ),
  },
  {
    name: "sunset",
    phrase: "at sunset",
    insideLight: "golden light at the window",
    outsideLight: "golden light",
    words: wordsOf(
      "sunset sundown sonnenuntergang atardecer tramonto",
      "coucher de soleil|日落|夕阳|закат|غروب|노을|שקיעה",
    ),
  },
  {
    name: "afternoon",
    phrase: "in the afternoon",
    insideLight: "soft daylight",
    outsideLight: "warm daylight",
    words: wordsOf("afternoon nachmittag nachmittags pomeriggio", "après-midi|下午|午后|午後|بعد الظهر|오후"),
  },
  {
    name: "night",
    phrase: "at night",
    insideLight: "warm lamp light",
    outsideLight: "moonlight",
    words: wordsOf(
      "night nighttime midnight tonight nacht nachts mitternacht nuit minuit noche medianoche notte mezzanotte noite",
      "深夜|半夜|夜の|夜に|夜、|夜色|夜空|夜深|夜晚|夜里|夜裡|午夜|晚上|今晚|真夜中|夜中|ночь|полноч|الليل|ليل|ليلة|ليلاً|한밤|밤|לילה|रात|νύχτα",
    ),
  },
  {
    name: "morning",
    phrase: "in the morning",
    insideLight: "bright morning light",
    outsideLight: "clear morning light",
    words: wordsOf(
      "morning morgens matin mañana mattina mattino manhã",
      "早晨|早上|上午|清早|今朝|утро|утром|الصباح|صباح|아침|בוקר|सुबह|πρωί",
    ),
  },
  {
    name: "evening",
    phrase: "in the evening",
    insideLight: "warm lamp light",
    outsideLight: "golden evening light",
    words: wordsOf("evening abend abends soir soirée sera", "夜幕|вечер|المساء|مساء|저녁|ערב|शाम|βράδυ"),
  },
  {
    name: "noon",
    phrase: "at noon",
    insideLight: "bright daylight",
    outsideLight: "bright daylight",
    words: wordsOf("noon midday mittag mittags midi mediodía mezzogiorno", "中午|正午|昼間|полдень|الظهر|정오|צהריים"),
  },
  {
    name: "day",
    phrase: "by day",
    insideLight: "soft daylight",
    outsideLight: "soft daylight",
    words: wordsOf(
      "day daytime daylight tag tags tagsüber jour día giorno dia",
      "白天|日间|昼|день|днём|النهار|نهار|낮|יום|दिन",
    ),
  },
];

/** What stands alone in the heading of a scene, and would mean anything in a sentence. */
const headingWords: Readonly<Record<string, string>> = {
  日: "day",
  夜: "night",
  晚: "night",
  晨: "dawn",
  早: "morning",
  朝: "morning",
  昏: "dusk",
  夕: "dusk",
  morgen: "morning",
  tarde: "afternoon",
};

const sameTimePattern =
  /^(?:later|continuous|moments? later|same(?: time)?|später|plus tard|más tarde|稍后|稍後|随后|连续)$/i;

/** The time of day that a text speaks of, in English. */
export function findTime(text: string): string | null {
  return times.find(({ words }) => words.test(text))?.name ?? null;
}

/** The time that a part of a heading is; `same` for one that only says that time goes on, `null` for a place. */
export function readTimeToken(token: string): string | null {
  const word = token.trim().toLowerCase();
  if (sameTimePattern.test(word)) return "same";
  if (Object.hasOwn(headingWords, word)) return headingWords[word] ?? null;
  const wordCount = word.split(/\s+/).length;
  return wordCount > 3 || /[\p{Script=Han}]{5}/u.test(word) ? null : findTime(word);
}

export function describeTime(time: string): string {
  return findEntry(time)?.phrase ?? "";
}

export function describeLight(time: string, { isInside }: { isInside: boolean }): string {
  const entry = findEntry(time) ?? findEntry("day");
  return (isInside ? entry?.insideLight : entry?.outsideLight) ?? "soft light";
}

function findEntry(time: string): TimeOfDay | undefined {
  const name = readTimeToken(time) ?? time;
  return times.find((entry) => entry.name === name);
}

/** Words that stand between others, and parts of scripts in which they do not. */
function wordsOf(words: string, parts: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{M}])(?:${words.replaceAll(" ", "|")})(?![\\p{L}\\p{M}])|${parts}`, "iu");
}
