import type { AskedScene, DramaQuestion } from "./drama-question.ts";
import { type Gender, guessGender } from "./given-names.ts";
import { describeLooks, describeRole } from "./role-looks.ts";
import { isNarratorName, keyOf } from "./role-names.ts";
import { splitStory } from "./story-text.ts";

type RolesQuestion = Pick<DramaQuestion, "voices" | "characters"> & { scenes: readonly AskedScene[] };

const rolesMax = 40;
const defaultVoice = "alloy";
const voicesOf: Readonly<Record<Gender, readonly string[]>> = {
  female: ["nova", "shimmer", "alloy"],
  male: ["onyx", "echo", "fable"],
};
/** A narrator should sound different from the roles. */
const narratorVoices = ["fable", "alloy", "echo", "shimmer", "onyx", "nova"];

/** Every role of a script with a look and a voice: deterministic by name, and distinct as far as there are enough. */
export function castRoles({ voices: given, characters, scenes }: RolesQuestion) {
  const voices = given.length === 0 ? [defaultVoice] : [...new Set(given)];
  const uses = new Map(voices.map((voice) => [voice, 0]));
  const sentences = scenes.flatMap(({ action }) => splitStory(action));
  const coloursTaken = new Set<string>();
  const roles = listNames(characters, scenes).map((name) => {
    const gender = guessGender(name);
    const voice = chooseVoice(uses, gender);
    uses.set(voice, (uses.get(voice) ?? 0) + 1);
    const description = describeRole(name, { sentences });
    return { name, description, appearance: describeLooks(name, { gender, sentences, coloursTaken }), voice };
  });
  return { narrator_voice: chooseNarratorVoice(uses), roles };
}

function listNames(characters: readonly string[], scenes: readonly AskedScene[]): string[] {
  const speakers = scenes.flatMap(({ lines }) => lines.flatMap(({ speaker }) => speaker ?? []));
  const byKey = new Map<string, string>();
  for (const name of characters) if (!byKey.has(keyOf(name))) byKey.set(keyOf(name), name);
  for (const name of speakers) {
    if (!isNarratorName(name) && !byKey.has(keyOf(name))) byKey.set(keyOf(name), name);
  }
  return [...byKey.values()].slice(0, rolesMax);
}

/** The least used voice; of several, one that fits the name. */
function chooseVoice(uses: ReadonlyMap<string, number>, gender: Gender | null): string {
  const countMin = Math.min(...uses.values());
  const free = [...uses].filter(([, count]) => count === countMin).map(([voice]) => voice);
  const suited = gender === null ? [] : voicesOf[gender];
  return (
    suited.find((voice) => free.includes(voice)) ??
    free.find((voice) => !isOfOther(voice, gender)) ??
    free[0] ??
    defaultVoice
  );
}

function isOfOther(voice: string, gender: Gender | null): boolean {
  if (gender === null) return false;
  return voicesOf[gender === "female" ? "male" : "female"].includes(voice);
}

function chooseNarratorVoice(uses: ReadonlyMap<string, number>): string {
  const countMin = Math.min(...uses.values());
  const free = [...uses].filter(([, count]) => count === countMin).map(([voice]) => voice);
  return narratorVoices.find((voice) => free.includes(voice)) ?? free[0] ?? defaultVoice;
}
