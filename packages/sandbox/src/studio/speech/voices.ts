import { detectLanguage } from "../../chat/sandbox-languages.ts";

/** A voice: a variant of the synthesizer's, at a pitch of 0 to 99. */
export type Voice = { variant: string; pitch: number; range: number };

const voices = {
  alloy: { variant: "f2", pitch: 42, range: 50 },
  echo: { variant: "m3", pitch: 32, range: 45 },
  fable: { variant: "m7", pitch: 52, range: 65 },
  nova: { variant: "f3", pitch: 60, range: 60 },
  onyx: { variant: "m1", pitch: 14, range: 35 },
  shimmer: { variant: "f5", pitch: 74, range: 55 },
} as const satisfies Record<string, Voice>;

export const voiceNames = Object.keys(voices);

export function findVoice(name: string): Voice | null {
  return Object.hasOwn(voices, name) ? voices[name as keyof typeof voices] : null;
}

/** Scripts that suggest a language. */
const scriptLanguages: readonly [RegExp, string][] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, "ja"],
  [/\p{Script=Hangul}/u, "ko"],
  [/\p{Script=Han}/u, "cmn"],
  [/[іїєґ]/iu, "uk"],
  [/\p{Script=Cyrillic}/u, "ru"],
  [/[پچژگ]/u, "fa"],
  [/\p{Script=Arabic}/u, "ar"],
  [/\p{Script=Hebrew}/u, "he"],
  [/\p{Script=Greek}/u, "el"],
  [/\p{Script=Devanagari}/u, "hi"],
  [/\p{Script=Bengali}/u, "bn"],
  [/\p{Script=Tamil}/u, "ta"],
  [/\p{Script=Telugu}/u, "te"],
  [/\p{Script=Thai}/u, "th"],
  [/\p{Script=Georgian}/u, "ka"],
  [/\p{Script=Armenian}/u, "hy"],
];

const latinLanguages: Readonly<Record<string, string>> = { de: "de", fr: "fr-fr", es: "es" };

/** The synthesizer's name of the most likely language of a text. */
export function guessLanguage(text: string): string {
  const byScript = scriptLanguages.find(([script]) => script.test(text))?.[1];
  return byScript ?? latinLanguages[detectLanguage(text)] ?? "en-us";
}
