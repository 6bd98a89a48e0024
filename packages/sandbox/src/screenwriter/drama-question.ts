/** A drama's question, parsed. Callers may send anything, so nothing is trusted. */
export type DramaQuestion = {
  title: string;
  /** `null` if there is no script to rewrite. */
  script: string | null;
  characters: readonly string[];
  voices: readonly string[];
  roleNames: readonly string[];
  filmSecondsMax: number;
  shotsMax: number;
  /** `null` if there are none, or too many for a drama. */
  scenes: readonly AskedScene[] | null;
};

export type AskedLine = { number: number; speaker: string | null; text: string };
export type AskedScene = {
  id: string;
  heading: string;
  place: string;
  time: string;
  action: string;
  lines: readonly AskedLine[];
};

type Fields = Readonly<Record<string, unknown>>;

const listMax = 200;
const linesMax = 1000;
const nameCharactersMax = 100;
const textCharactersMax = 4000;
/** More than an hour of video has room for. */
const scriptCharactersMax = 120_000;
const secondsMax = 3600;

export function parseDramaQuestion(value: unknown): DramaQuestion | null {
  if (!isFields(value)) return null;
  const isScript = typeof value.script === "string" && typeof value.title === "string";
  return {
    title: readText(value.title, 200),
    script: isScript ? readText(value.script, scriptCharactersMax) : null,
    characters: readNames(value.characters),
    voices: readNames(value.voices),
    roleNames: readNames(listOf(value.roles).map((role) => (isFields(role) ? role.name : null))),
    filmSecondsMax: readNumber(value.film_seconds_max, secondsMax),
    shotsMax: Math.max(1, Math.floor(readNumber(value.shots_max, listMax))),
    scenes: parseScenes(value.scenes),
  };
}

function parseScenes(value: unknown): AskedScene[] | null {
  if (!Array.isArray(value) || value.length > listMax || !value.every(isFields)) return null;
  let count = 0;
  const scenes = value.map(
    (scene, index): AskedScene => ({
      id: readText(scene.id, 40) || String(index + 1),
      heading: readText(scene.heading, textCharactersMax),
      place: readText(scene.place, textCharactersMax),
      time: readText(scene.time, nameCharactersMax),
      action: readText(scene.action, textCharactersMax),
      lines: listOf(scene.lines)
        .filter(isFields)
        .map(({ number, speaker, text }) => {
          count += 1;
          return {
            number: Number.isSafeInteger(number) ? Number(number) : count,
            speaker: readText(speaker, nameCharactersMax) || null,
            text: readText(text, textCharactersMax),
          };
        }),
    }),
  );
  return count > linesMax ? null : scenes;
}

function readNames(value: unknown): string[] {
  const names = listOf(value).slice(0, listMax);
  return names.map((name) => readText(name, nameCharactersMax)).filter((name) => name !== "");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whole characters only: half a surrogate pair is not valid UTF-8. */
function readText(value: unknown, charactersMax: number): string {
  return typeof value === "string" ? value.slice(0, charactersMax).toWellFormed().trim() : "";
}

function readNumber(value: unknown, max: number): number {
  return typeof value === "number" && value >= 0 ? Math.min(value, max) : max;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
