import { createSeededRandom } from "../seeded-random.ts";
import type { Gender } from "./given-names.ts";
import { dropParentheses, quietNames } from "./role-names.ts";
import { cutToLength, writeSentence } from "./story-text.ts";

type Person = {
  gender: Gender | null;
  /** The action sentences of the script. */
  sentences: readonly string[];
  /** Colours that others already wear, so that people are easy to distinguish. */
  coloursTaken: Set<string>;
};

const builds = ["slim", "tall", "sturdy", "small", "graceful", "broad-shouldered"] as const;
const hairCuts = ["short", "curly", "long", "tousled", "neatly combed"] as const;
const femaleCuts = ["long", "curly", "shoulder-length", "braided", "short"] as const;
const hairColours = ["black", "dark brown", "chestnut", "blond", "red", "grey"] as const;
const darkColours = ["black", "dark brown"] as const;
const garments = ["coat", "jacket", "sweater", "shirt", "scarf"] as const;
const femaleGarments = ["coat", "dress", "cardigan", "sweater", "scarf"] as const;
const clothColours = [
  "dark green",
  "deep blue",
  "burgundy",
  "mustard yellow",
  "charcoal",
  "ivory",
  "teal",
  "rust red",
] as const;
const nouns = { female: { young: "girl", grown: "woman" }, male: { young: "boy", grown: "man" } } as const;
const traits = [
  "quiet and watchful, slow to trust and quick to forgive",
  "warm and stubborn, wants to be heard at last",
  "restless and funny, hides worry behind jokes",
  "calm and precise, keeps a promise from long ago",
  "curious and brave, asks what others do not dare to ask",
  "proud and tender, afraid of losing what matters",
  "patient and dry, sees more than others think",
  "impulsive and loyal, acts first and explains later",
  "dreamy and honest, looks for a place to belong",
  "careful and kind, carries a secret for somebody else",
  "bold and impatient, cannot leave a question alone",
] as const;

const youngWords = /(?<!\p{L})(?:boy|girl|child|kid|baby|little)(?!\p{L})|小孩|孩子|男孩|女孩|宝宝/iu;
const oldWords = /(?<!\p{L})(?:old|grandma|grandpa|grandmother|grandfather|elder)(?!\p{L})|爷爷|奶奶|外婆|老人/iu;
const ageWords = /\d|young|old|岁|歲/iu;
const hairWords = /hair|bald|blond|发|髮/iu;
const clothWords = /coat|jacket|dress|shirt|suit|sweater|uniform|cloak|apron|衣|裙/iu;
const lookWords =
  /(?<!\p{L})(?:coat|jacket|dress|shirt|hat|cap|scarf|suit|sweater|jeans|boots|glasses|uniform|apron|cloak|hair|haired|beard|bearded|bald|tall|short|thin|slim|young|old|freckles|blonde?|red|blue|green|black|white|gr[ea]y|brown)(?!\p{L})|\d0s|岁|歲|衣|帽|裙|发|髮|胡子|眼镜|高个/iu;
const darkHaired = /[\p{L}--\p{Script=Latin}]/v;

/** Age, build, hair and clothes: from the script, and the rest derived from the name. */
export function describeLooks(name: string, { gender, sentences, coloursTaken }: Person): string {
  const random = createSeededRandom(`looks/${name.toLowerCase()}`);
  const told = findLooks(name, sentences);
  const isTold = (words: RegExp): boolean => told.some((part) => words.test(part));
  const isOld = oldWords.test(name) || isTold(oldWords);
  const isYoung = youngWords.test(name);
  const age = isYoung ? "about 9" : isOld ? "about 70" : `about ${random.whole(4, 11) * 5}`;
  const cut = random.pick(gender === "female" ? femaleCuts : hairCuts);
  const colour = isOld ? "white" : random.pick(darkHaired.test(name) ? darkColours : hairColours);
  const build = random.pick(builds);
  const cloth = chooseCloth(random.whole(0, clothColours.length - 1), coloursTaken);
  const garment = random.pick(gender === "female" ? femaleGarments : garments);
  const parts = [
    isTold(ageWords) ? "" : age,
    gender === null ? "" : nouns[gender][isYoung ? "young" : "grown"],
    ...(told.length > 0 || isYoung ? told : [build]),
    isTold(hairWords) ? "" : `${cut} ${colour} hair`,
    isTold(clothWords) ? "" : `${cloth} ${garment}`,
  ];
  return writeSentence(parts.filter(Boolean).join(", ").slice(0, 400).toWellFormed());
}

function chooseCloth(from: number, taken: Set<string>): string {
  const turned = [...clothColours.slice(from), ...clothColours.slice(0, from)];
  const colour = turned.find((each) => !taken.has(each)) ?? turned[0] ?? "grey";
  taken.add(colour);
  return colour;
}

/** A description: the first action in the script, and a trait. */
export function describeRole(name: string, { sentences }: Pick<Person, "sentences">): string {
  const trait = createSeededRandom(`trait/${name.toLowerCase()}`).pick(traits);
  const lower = name.toLowerCase();
  const seen = sentences.find((sentence) => sentence.toLowerCase().includes(lower));
  const told = seen === undefined ? "" : ` ${cutToLength(quietNames(dropParentheses(seen), [name]), 160)}`;
  return `${writeSentence(trait)}${told}`;
}

/** `Anna (30, red coat)` and `Anna, 30, red coat, leans …`: looks in parentheses or between commas after a name. */
function findLooks(name: string, sentences: readonly string[]): string[] {
  for (const sentence of sentences) {
    const at = sentence.toLowerCase().indexOf(name.toLowerCase());
    if (at < 0) continue;
    const after = sentence.slice(at + name.length, at + name.length + 160);
    const inside = /^\s?[(（]([^()（）]{1,120})[)）]/u.exec(after)?.[1];
    const listed = /^\s?[,，]\s?([^.。!?\n]{1,140})/u.exec(after)?.[1];
    const parts = (inside ?? listed ?? "").split(/[,，、;]/u).map((part) => part.trim());
    const end = parts.findIndex((part) => !isLook(part));
    const looks = parts
      .slice(0, end < 0 ? parts.length : end)
      .map((part) => (/^\d{1,3}$/.test(part) ? `about ${part}` : part));
    if (looks.length > 0) return looks;
  }
  return [];
}

function isLook(part: string): boolean {
  return (
    /^(?:about |around |early |late |mid-?)?\d{1,3}(?:s|岁|歲)?$/i.test(part) ||
    (part.split(/\s+/).length <= 8 && lookWords.test(part))
  );
}
