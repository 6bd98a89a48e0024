/** A shot of a drama, parsed from its prompt. Any other prompt is only a setting. */
export type ShotPrompt = {
  /** Whether the prompt has the form of a drama's shot: with people, or without captions. */
  isShot: boolean;
  /** The text that determines the scene. */
  setting: string;
  hasCaption: boolean;
  /** In the order of their description. */
  people: readonly ShotPerson[];
  distance: "close" | "medium" | "wide";
  move: CameraMove | null;
};

/** `photo` is the index of the input image that shows the person; `null` if none does. */
export type ShotPerson = { name: string; appearance: string; photo: number | null };

export type CameraMove = "in" | "out" | "left" | "right" | "still";

export const peopleMax = 8;

const plainPattern =
  /\b(?:no|without|free of)\s+(?:any\s+)?(?:captions?|text|lettering|subtitles?)\b[^.。!?]*[.。!?]?/giu;
const title = "(?:(?:dr|mr|mrs|ms|prof|st)\\. )?";
const referencePattern = new RegExp(`\\breference (\\d{1,2}) shows (${title}[^.。]{1,100})[.。]?`, "giu");
const personPattern = new RegExp(
  `(?<=^|[.。!?！？…]\\s*)(${title}[\\p{L}\\p{N}][^.。:：!?！？…"]{0,99}?)(?::\\s+|：\\s*)`,
  "giu",
);
/** Labels before a colon that are not names. */
const labelPattern =
  /^(?:style|scene|setting|place|location|time|light|lighting|camera|mood|tone|colou?rs?|palette|background|foreground|action|format|int|ext)$|\b(?:shot|close-?up|angle|view|day|night|morning|evening|dusk|dawn|later|continuous|says?|asks?|whispers?|shouts?|reads?)$/iu;

const closeWords = /\b(?:close[- ]?ups?|close shot|headshot|detail)\b|特写|近景/iu;
const wideWords = /\b(?:wide|long shot|establishing|full shot|total|panorama|from afar|aerial)\b|远景|全景/iu;

const moveWords: readonly [CameraMove, RegExp][] = [
  ["in", /\b(?:moving in|moves? in|push(?:ing|es)? in|zoom(?:ing|s)? in|dolly in|tracking in|closer)\b|推近/iu],
  ["out", /\b(?:moving out|moves? out|pull(?:ing|s)? (?:out|back)|zoom(?:ing|s)? out|dolly out)\b|拉远/iu],
  ["left", /\b(?:pan(?:ning|s)?|moving|tracking|sliding)(?: slowly)?(?: to the)? left\b|左移/iu],
  ["right", /\b(?:pan(?:ning|s)?|moving|tracking|sliding)(?: slowly)?(?: to the)? right\b|右移/iu],
  ["still", /\b(?:still|static|fixed|locked[- ]off|motionless)\b(?! life)|静止|固定/iu],
];

/** Parses people, camera and captions from a prompt; `photoCount` is the number of input images. */
export function parseShotPrompt(prompt: string, photoCount: number): ShotPrompt {
  const references = [...prompt.matchAll(referencePattern)].map(([, number, name = ""]) => ({
    name: name.trim(),
    photo: Number(number) >= 1 && Number(number) <= photoCount ? Number(number) - 1 : null,
  }));
  const hasCaption = prompt.search(plainPattern) < 0;
  const isShot = references.length > 0 || !hasCaption;
  const text = prompt.replace(plainPattern, " ").replace(referencePattern, " ");
  const { setting, described } = isShot ? separatePeople(text) : { setting: text, described: [] };
  const people = new Map<string, ShotPerson>();
  for (const { name, appearance } of described) people.set(name.toLowerCase(), { name, appearance, photo: null });
  for (const { name, photo } of references) {
    const known = people.get(name.toLowerCase());
    people.set(name.toLowerCase(), { name, appearance: known?.appearance ?? "", photo: known?.photo ?? photo });
  }
  return {
    isShot,
    setting: setting.trim(),
    hasCaption,
    people: [...people.values()].slice(0, peopleMax),
    distance: closeWords.test(setting) ? "close" : wideWords.test(setting) ? "wide" : "medium",
    move: moveWords.find(([, words]) => words.test(setting))?.[0] ?? null,
  };
}

/** A description extends to the next name: `Anna: about 30, red hair. Ben: tall.` */
function separatePeople(text: string): { setting: string; described: { name: string; appearance: string }[] } {
  const heads = [...text.matchAll(personPattern)].filter(([, name = ""]) => !labelPattern.test(name.trim()));
  const described = heads.map((head, index) => {
    const end = heads[index + 1]?.index ?? text.length;
    return { name: (head[1] ?? "").trim(), appearance: text.slice(head.index + head[0].length, end).trim() };
  });
  return { setting: text.slice(0, heads[0]?.index ?? text.length), described };
}
