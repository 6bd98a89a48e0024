/** What the screenwriter is asked, as far as it reads it. Providers know nothing of features, so the forms are said again. */
export type ScriptWish = { title: string; characters: readonly string[]; filmSecondsMax: number; script: string };

export type WishedLine = { number: number; speaker: string | null; text: string };
export type WishedScene = {
  id: string;
  heading: string;
  place: string;
  time: string;
  action: string;
  lines: readonly WishedLine[];
};

export type RolesWish = {
  language: string;
  voices: readonly string[];
  characters: readonly string[];
  scenes: readonly WishedScene[];
};

export type StoryboardWish = {
  filmSecondsMax: number;
  shotsMax: number;
  roleNames: readonly string[];
  scenes: readonly WishedScene[];
};

type Fields = Readonly<Record<string, unknown>>;

const listMax = 200;
const linesMax = 1000;
const nameCharactersMax = 100;
const textCharactersMax = 4000;
/** More than any film of an hour has room for. */
const scriptCharactersMax = 120_000;
const secondsMax = 3600;

/** `null` for what is no such question: it gets the answer that any other has. */
export function parseScriptWish(value: unknown): ScriptWish | null {
  if (!isFields(value) || typeof value.script !== "string" || typeof value.title !== "string") return null;
  return {
    title: readText(value.title, 200),
    characters: readNames(value.characters),
    filmSecondsMax: readNumber(value.film_seconds_max, secondsMax),
    script: readText(value.script, scriptCharactersMax),
  };
}

export function parseRolesWish(value: unknown): RolesWish | null {
  const scenes = isFields(value) ? parseScenes(value.scenes) : null;
  if (!isFields(value) || scenes === null) return null;
  const language = readText(value.language, 35);
  return { language, voices: readNames(value.voices), characters: readNames(value.characters), scenes };
}

export function parseStoryboardWish(value: unknown): StoryboardWish | null {
  const scenes = isFields(value) ? parseScenes(value.scenes) : null;
  if (!isFields(value) || scenes === null || scenes.length === 0) return null;
  const roles = Array.isArray(value.roles) ? value.roles : [];
  return {
    filmSecondsMax: readNumber(value.film_seconds_max, secondsMax),
    shotsMax: Math.max(1, Math.floor(readNumber(value.shots_max, listMax))),
    roleNames: readNames(roles.map((role) => (isFields(role) ? role.name : null))),
    scenes,
  };
}

function parseScenes(value: unknown): WishedScene[] | null {
  if (!Array.isArray(value) || value.length > listMax || !value.every(isFields)) return null;
  let count = 0;
  const scenes = value.map((scene, index): WishedScene => {
    const lines = Array.isArray(scene.lines) ? scene.lines.filter(isFields) : [];
    return {
      id: readText(scene.id, 40) || String(index + 1),
      heading: readText(scene.heading, textCharactersMax),
      place: readText(scene.place, textCharactersMax),
      time: readText(scene.time, nameCharactersMax),
      action: readText(scene.action, textCharactersMax),
      lines: lines.map(({ number, speaker, text }) => {
        count += 1;
        return {
          number: Number.isSafeInteger(number) ? Number(number) : count,
          speaker: readText(speaker, nameCharactersMax) || null,
          text: readText(text, textCharactersMax),
        };
      }),
    };
  });
  return count > linesMax ? null : scenes;
}

function readNames(value: unknown): string[] {
  const list = Array.isArray(value) ? value.slice(0, listMax) : [];
  return list.map((name) => readText(name, nameCharactersMax)).filter((name) => name !== "");
}

/** Whole characters only: half an emoji cannot be written as UTF-8. */
function readText(value: unknown, charactersMax: number): string {
  return typeof value === "string" ? value.slice(0, charactersMax).toWellFormed().trim() : "";
}

function readNumber(value: unknown, max: number): number {
  return typeof value === "number" && value >= 0 ? Math.min(value, max) : max;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
