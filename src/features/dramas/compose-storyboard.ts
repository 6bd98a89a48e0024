import type { AskWriter } from "./ask-writer.ts";
import { estimateShotSeconds, foldName } from "./check-document.ts";
import { cut } from "./compose-script.ts";
import { type StoryboardAnswer, type StoryboardQuestion, storyboardAnswerSchema } from "./drama-answers.ts";
import {
  type Line,
  type RolesDocument,
  type Shot,
  type StoryboardDocument,
  shotSecondsMax,
  shotsMax,
} from "./drama-documents.ts";
import { estimateSpeakingSeconds } from "./speaking-time.ts";

const instructions = `You are a film director. You are given a screenplay with numbered lines and its roles. Break it into shots: who can
be seen, where, in what light, doing what, and how the camera sees it. Each shot is a picture that can be painted without
knowing the others. Every line is said in exactly one shot, in order; few lines a shot. Shots in which nothing is said
take two to four seconds. Faces stay out of the lower third of the picture, where captions are shown. All of it fits into film_seconds_max seconds and shots_max shots.`;

type BoardFormat = { aspectRatio: string; secondsMax: number };

/** The shots of a film, before their images are generated. */
export async function composeStoryboard(
  ask: AskWriter,
  document: RolesDocument,
  { modelId, signal, ...board }: BoardFormat & { modelId: string; signal: AbortSignal },
): Promise<StoryboardDocument> {
  const { script, roles } = document;
  let number = 0;
  const facts: StoryboardQuestion = {
    title: script.title,
    aspect_ratio: board.aspectRatio,
    film_seconds_max: board.secondsMax,
    shots_max: shotsMax,
    roles: roles.map(({ name, appearance }) => ({ name, appearance })),
    scenes: script.scenes.map((scene) => ({
      ...scene,
      lines: scene.lines.map((line) => {
        number += 1;
        return { number, ...line };
      }),
    })),
  };
  const question = { modelId, name: "drama_storyboard", schema: storyboardAnswerSchema, instructions, facts } as const;
  return completeStoryboard(await ask(question, signal), document, board);
}

type Scene = RolesDocument["script"]["scenes"][number];
type Draft = Omit<Shot, "id" | "image_file_id">;

/** Completes the model's response: every scene has a shot, and every line is spoken once, in order. */
export function completeStoryboard(
  answer: StoryboardAnswer,
  { script, roles, narrator_voice }: RolesDocument,
  { aspectRatio, secondsMax }: BoardFormat,
): StoryboardDocument {
  const names = new Map(roles.map(({ name }) => [foldName(name), name]));
  let firstNumber = 1;
  const drafts = script.scenes.flatMap((scene) => {
    const planned = answer.shots.filter((shot) => shot.scene === scene.id && cut(shot.prompt, 4000) !== "");
    const shots = planned.map((shot) => describeShot(shot, scene, names));
    if (shots.length === 0) shots.push(describeScene(scene));
    const numbers = planned.map((shot) => shot.line_numbers.map((each) => each - firstNumber));
    firstNumber += scene.lines.length;
    return giveLines(shots, numbers, scene.lines);
  });
  return {
    object: "drama.storyboard",
    title: script.title,
    episode: script.episode,
    language: script.language,
    aspect_ratio: aspectRatio,
    narrator_voice,
    roles,
    shots: fitShots(drafts, secondsMax).map((draft, index) => ({
      id: `shot-${index + 1}`,
      ...draft,
      image_file_id: null,
    })),
  };
}

function describeShot(
  shot: StoryboardAnswer["shots"][number],
  scene: Scene,
  names: ReadonlyMap<string, string>,
): Draft {
  const seen = shot.characters.flatMap((name) => names.get(foldName(name)) ?? []);
  return {
    scene: scene.id,
    prompt: cut(shot.prompt, 4000),
    camera: cut(shot.camera, 300),
    duration: Math.min(Math.max(Number.isFinite(shot.duration) ? shot.duration : 3, 1.5), shotSecondsMax),
    characters: [...new Set(seen)].slice(0, 8),
    lines: [],
  };
}

function describeScene({ id, place, action, heading }: Scene): Draft {
  const prompt = [place, action].filter((text) => text !== "").join(" ");
  const text = prompt === "" ? heading : prompt;
  return {
    scene: id,
    prompt: cut(text === "" ? "A quiet place." : text, 4000),
    camera: "",
    duration: 3,
    characters: [],
    lines: [],
  };
}

const linesPerShotMax = 20;

/** Keeps lines in order: a line that was not assigned, or too early, goes to the shot of the previous line. */
function giveLines(shots: readonly Draft[], numbers: readonly number[][], lines: readonly Line[]): Draft[] {
  const given: Line[][] = shots.map(() => []);
  let current = 0;
  for (const [index, line] of lines.entries()) {
    current = Math.max(
      current,
      numbers.findIndex((each) => each.includes(index)),
    );
    given[current]?.push(line);
  }
  return shots.flatMap((shot, index) => splitShot(shot, given[index] ?? []));
}

/** Splits a shot with too many lines; its speakers are always visible. */
function splitShot(shot: Draft, lines: readonly Line[]): Draft[] {
  const count = Math.max(1, Math.ceil(lines.length / linesPerShotMax));
  return Array.from({ length: count }, (_, index) => {
    const said = lines.slice(index * linesPerShotMax, (index + 1) * linesPerShotMax);
    const speakers = said.flatMap(({ speaker }) => (speaker === null ? [] : [speaker]));
    return { ...shot, lines: said, characters: [...new Set([...speakers, ...shot.characters])].slice(0, 8) };
  });
}

const silentSecondsMin = 2;
const titleSeconds = 3;

/** Shortens to the limit: first pauses, then silent shots, then the end. */
function fitShots(shots: readonly Draft[], secondsMax: number): Draft[] {
  const room = Math.max(secondsMax - titleSeconds, 1);
  const isTooMuch = (some: readonly Draft[]): boolean => some.length > shotsMax || measure(some) > room;
  if (!isTooMuch(shots)) return [...shots];
  const fitted = shots.map((shot) => (shot.lines.length === 0 ? { ...shot, duration: silentSecondsMin } : shot));
  while (isTooMuch(fitted)) {
    const silent = fitted.findLastIndex(({ lines }) => lines.length === 0);
    if (silent === -1 || fitted.length === 1) break;
    fitted.splice(silent, 1);
  }
  return cutEnd(fitted.slice(0, shotsMax), room);
}

function measure(shots: readonly Draft[]): number {
  return shots.reduce((sum, shot) => sum + estimateShotSeconds(shot), 0);
}

/** Keeps lines until the time is up. The first line is always kept, truncated if necessary. */
function cutEnd(shots: readonly Draft[], room: number): Draft[] {
  const kept: Draft[] = [];
  let left = room;
  for (const shot of shots) {
    const lines = takeLines(shot.lines, left);
    if (kept.length > 0 && lines.length < shot.lines.length && lines.length === 0) break;
    kept.push({
      ...shot,
      lines: lines.length === 0 ? shot.lines.slice(0, 1).map((line) => shorten(line, left)) : lines,
    });
    left -= estimateShotSeconds({ ...shot, lines });
    if (lines.length < shot.lines.length || left <= 0) break;
  }
  return kept;
}

function takeLines(lines: readonly Line[], seconds: number): Line[] {
  let left = seconds;
  const firstTooMany = lines.findIndex(({ text }) => {
    left -= estimateSpeakingSeconds(text);
    return left < 0;
  });
  return lines.slice(0, firstTooMany === -1 ? lines.length : firstTooMany);
}

function shorten(line: Line, seconds: number): Line {
  const share = seconds / estimateSpeakingSeconds(line.text);
  const text = share >= 1 ? line.text : cut(line.text, Math.max(1, Math.floor(line.text.length * share * 0.9)));
  return { ...line, text };
}
