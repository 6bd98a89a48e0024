import { createShotPainter } from "./create-shot-painter.ts";
import type { AskedLine, AskedScene, DramaQuestion } from "./drama-question.ts";
import { mergeShots, type PlannedShot } from "./merge-shots.ts";
import { keyOf } from "./role-names.ts";
import { estimateSpeechSeconds } from "./story-text.ts";

export type StoryboardQuestion = Pick<DramaQuestion, "filmSecondsMax" | "shotsMax" | "roleNames"> & {
  scenes: readonly AskedScene[];
};

const silentSeconds = 3;
const silentSecondsMin = 2.5;
const shotSecondsMax = 30;
/** A comfortable shot length in seconds, which determines the usual number of shots. */
const shotSecondsUsual = 7;
const shotsUsualMin = 6;
const charactersMax = 8;

/** A video shot by shot: the place, the speakers, the narration. Every line is spoken once, in order. */
export function writeStoryboard(question: StoryboardQuestion) {
  const turns = question.scenes.flatMap(planTurns);
  const spoken = turns.reduce((sum, { seconds }) => sum + seconds, 0);
  const shots = addViews(turns, question, spoken);
  const total = shots.reduce((sum, { seconds }) => sum + seconds, 0);
  const usual = Math.max(shotsUsualMin, question.scenes.length + 2, Math.ceil(total / shotSecondsUsual));
  const merged = mergeShots(shots, { usual, max: question.shotsMax });
  return { shots: presentShots(merged, question) };
}

/** One shot per turn: consecutive lines of one voice. */
function planTurns(scene: AskedScene): PlannedShot[] {
  return scene.lines.map((line) => ({ scene, lines: [line], seconds: estimateSpeechSeconds(line.text) }));
}

/** Adds a view before scenes that start with speech and for scenes without lines, if there is time. */
function addViews(turns: readonly PlannedShot[], question: StoryboardQuestion, spoken: number): PlannedShot[] {
  let left = Math.max(0, question.filmSecondsMax - spoken);
  const silent = question.scenes.filter(({ lines }) => lines.length === 0);
  const isNeeded = new Set(silent.slice(0, Math.floor(left / silentSecondsMin)));
  left -= isNeeded.size * silentSecondsMin;
  const shots = question.scenes.flatMap((scene) => {
    const own = turns.filter((turn) => turn.scene === scene);
    const wantsView = own.length > 0 && own[0]?.lines[0]?.speaker !== null;
    if (!isNeeded.has(scene) && !(wantsView && left >= silentSecondsMin)) return own;
    const extra = Math.max(0, Math.min(silentSeconds - silentSecondsMin, left - (wantsView ? silentSecondsMin : 0)));
    const seconds = silentSecondsMin + extra;
    left -= isNeeded.has(scene) ? extra : seconds;
    return [{ scene, lines: [], seconds }, ...own];
  });
  const [first] = question.scenes;
  if (shots.length > 0 || first === undefined) return shots;
  return [{ scene: first, lines: [], seconds: silentSecondsMin }];
}

function presentShots(shots: readonly PlannedShot[], question: StoryboardQuestion) {
  const roles = new Map(question.roleNames.map((name) => [keyOf(name), name]));
  const painter = createShotPainter(question.roleNames);
  return shots.map((shot, index) => {
    const speakers = listSpeakers(shot.lines).flatMap((speaker) => roles.get(keyOf(speaker)) ?? []);
    const isFirst = shots[index - 1]?.scene !== shot.scene;
    const { prompt, camera, shown } = painter.paint(shot, { speakers, isFirst });
    return {
      scene: shot.scene.id,
      prompt,
      camera,
      duration: Math.min(shotSecondsMax, Math.max(1, Math.floor(shot.seconds * 10) / 10)),
      characters: shown.slice(0, charactersMax),
      line_numbers: shot.lines.map(({ number }) => number),
    };
  });
}

function listSpeakers(lines: readonly AskedLine[]): string[] {
  return [...new Set(lines.flatMap(({ speaker }) => speaker ?? []))];
}
