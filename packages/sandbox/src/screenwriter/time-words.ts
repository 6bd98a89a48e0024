type TimeOfDay = {
  name: string;
  /** As in "a kitchen at night". */
  phrase: string;
  insideLight: string;
  outsideLight: string;
  words: RegExp;
};

/** Earlier entries win: "midnight" is not noon, and 黎明 is not night. */
const times = (
  [
    ["dawn", "at dawn", "pale first light", "dawn daybreak sunrise", "黎明|清晨|凌晨|日出|破晓"],
    ["dusk", "at dusk", "the last light of the day", "dusk twilight", "黄昏|黃昏|傍晚"],
    ["sunset", "at sunset", "golden light", "sunset sundown", "日落|夕阳"],
    ["afternoon", "in the afternoon", "warm daylight", "afternoon", "下午|午后|午後", "soft daylight"],
    [
      ...(["night", "at night", "moonlight", "night nighttime midnight tonight"] as const),
      ...(["深夜|半夜|夜色|夜空|夜深|夜晚|夜里|夜裡|午夜|晚上|今晚", "warm lamp light"] as const),
    ],
    ["morning", "in the morning", "clear morning light", "morning", "早晨|早上|上午|清早", "bright morning light"],
    ["evening", "in the evening", "golden evening light", "evening", "夜幕", "warm lamp light"],
    ["noon", "at noon", "bright daylight", "noon midday", "中午|正午", "bright daylight"],
    ["day", "by day", "soft daylight", "day daytime daylight", "白天|日间", "soft daylight"],
  ] as const
).map(([name, phrase, outsideLight, words, signs, insideLight = `${outsideLight} at the window`]): TimeOfDay => {
  const pattern = `(?<![\\p{L}\\p{M}])(?:${words.replaceAll(" ", "|")})(?![\\p{L}\\p{M}])|${signs}`;
  return { name, phrase, outsideLight, insideLight, words: new RegExp(pattern, "iu") };
});

/** Single characters that are a time in a heading, but ambiguous in a sentence. */
const headingSigns = new Map(
  Object.entries({ 日: "day", 夜: "night", 晚: "night", 晨: "dawn", 早: "morning", 昏: "dusk", 夕: "dusk" }),
);
const sameTimePattern = /^(?:later|continuous|moments? later|same(?: time)?|稍后|稍後|随后|连续)$/i;

/** The time of day in a text, in English. */
export function findTime(text: string): string | null {
  return times.find(({ words }) => words.test(text))?.name ?? null;
}

/** The time in a part of a heading; `same` if time continues, `null` for a place. */
export function readTimeToken(token: string): string | null {
  const word = token.trim().toLowerCase();
  if (sameTimePattern.test(word)) return "same";
  const isLong = word.split(/\s+/).length > 3 || /[\p{Script=Han}]{5}/u.test(word);
  return headingSigns.get(word) ?? (isLong ? null : findTime(word));
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
