import { paintPlace } from "./describe-place.ts";
import type { AskedScene } from "./drama-question.ts";
import type { PlannedShot } from "./merge-shots.ts";
import { dropParentheses, keyOf, quietNames } from "./role-names.ts";
import { findNamed, hasPluralPronoun, hasPronoun } from "./speech-verbs.ts";
import { cutToLength, joinText, splitStory, writeSentence } from "./story-text.ts";

export type PaintedShot = { prompt: string; camera: string; shown: string[] };

const actionCharactersMax = 220;
const promptCharactersMax = 900;
const shownMax = 3;

const gestures = [
  "looks up and speaks",
  "speaks softly, eyes wide",
  "leans closer and speaks",
  "speaks with a small smile",
  "turns around to answer",
] as const;
const talks = ["face each other, talking", "sit side by side and talk", "stand close together, talking"] as const;

const wideCameras = [
  "wide establishing shot, slow pan right",
  "wide establishing shot, slowly moving in",
  "wide establishing shot, slow pan left",
] as const;
const speechCameras = [
  "close-up, slowly moving in",
  "medium shot, still",
  "close-up, still",
  "medium shot, slowly moving in",
] as const;
const talkCameras = ["two-shot, still", "two-shot, slowly moving in", "two-shot, slowly moving out"] as const;
const actionCameras = [
  "medium shot, slow pan right",
  "medium wide shot, slowly moving out",
  "medium shot, slow pan left",
] as const;

/** Writes the image prompt of each shot. Remembers what was shown, so that nothing repeats within a scene. */
export function createShotPainter(roleNames: readonly string[]) {
  const actions = new Map<AskedScene, string[]>();
  const turns = new Map<readonly string[], number>();
  let lastShown: string[] = [];

  return {
    paint(shot: PlannedShot, { speakers, isFirst }: { speakers: readonly string[]; isFirst: boolean }): PaintedShot {
      const { scene } = shot;
      if (!actions.has(scene)) actions.set(scene, splitStory(cleanAction(scene.action, roleNames)));
      if (isFirst) lastShown = [];
      const told = shot.lines.filter(({ speaker }) => speaker === null).map(({ text }) => text);
      const happens = speakers.length > 0 ? writeSpeech(scene, speakers) : writeTold(scene, told);
      const shown = speakers.length > 0 ? [...speakers] : findShown(happens, scene);
      if (shown.length > 0) lastShown = shown;
      const place = paintPlace(scene);
      const prompt = place.includes(happens) ? place : joinText(place, happens);
      return { prompt: prompt.slice(0, promptCharactersMax).toWellFormed(), camera: chooseCamera(), shown };

      function chooseCamera(): string {
        if (speakers.length > 1) return takeTurn(talkCameras);
        if (speakers.length === 1) return takeTurn(speechCameras);
        return takeTurn(isFirst ? wideCameras : actionCameras);
      }

      function writeSpeech(from: AskedScene, people: readonly string[]): string {
        const [one = ""] = people;
        if (people.length > 1) return `${people.slice(0, -1).join(", ")} and ${people.at(-1)} ${takeTurn(talks)}.`;
        const done = takeAction(from, (sentence) => findNamed(sentence, [one]) !== null);
        return done ?? `${one} ${takeTurn(gestures)}.`;
      }
    },
  };

  /** Cycles through a list, so that neighbours differ. */
  function takeTurn(list: readonly [string, ...string[]]): string {
    const turn = turns.get(list) ?? 0;
    turns.set(list, turn + 1);
    return list[turn % list.length] ?? list[0];
  }

  function writeTold(scene: AskedScene, told: readonly string[]): string {
    const text = told.reduce(joinText, "");
    if (text !== "") {
      takeAction(scene, (sentence) => told.includes(sentence));
      return writeSentence(cutToLength(cleanAction(text, roleNames), actionCharactersMax));
    }
    return takeAction(scene, () => true) ?? "";
  }

  /** The next matching action of a scene; each is shown once. */
  function takeAction(scene: AskedScene, isRight: (sentence: string) => boolean): string | null {
    const left = actions.get(scene) ?? [];
    const at = left.findIndex(isRight);
    const [taken] = at < 0 ? [] : left.splice(at, 1);
    return taken === undefined ? null : writeSentence(cutToLength(taken, actionCharactersMax));
  }

  /** The named people; "she" is the person seen last, and "they" are the speakers of the scene. */
  function findShown(happens: string, scene: AskedScene): string[] {
    const named = roleNames.filter((name) => findNamed(happens, [name]) !== null);
    if (named.length > 0 || !hasPronoun(happens)) return named.slice(0, shownMax);
    if (!hasPluralPronoun(happens)) return lastShown.slice(0, shownMax);
    const speaking = new Set(scene.lines.flatMap(({ speaker }) => (speaker === null ? [] : keyOf(speaker))));
    return roleNames.filter((name) => speaking.has(keyOf(name))).slice(0, 2);
  }
}

/** Looks in parentheses belong to the role; colons would look like names. */
function cleanAction(action: string, roleNames: readonly string[]): string {
  return quietNames(dropParentheses(action), roleNames).replaceAll(/[:：]/gu, ",");
}
