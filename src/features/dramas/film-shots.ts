import type { FileId } from "../../lib/ids.ts";
import type { Model } from "../catalog/index.ts";
import {
  type CompositeTask,
  isFinal,
  type NewChild,
  type OrchestrationContext,
  type StepRecord,
  type Task,
  type TaskError,
  type TaskOutput,
} from "../tasks/index.ts";
import { addIds, type Children, groupChildren, measureProgress } from "./child-progress.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { Shot, StoryboardDocument } from "./drama-documents.ts";
import { DramaFailure, explainChild } from "./drama-failure.ts";
import type { DramaRequest, KeptPart } from "./drama-request.ts";
import { changeStep, findStep, isDone } from "./drama-step.ts";
import type { StepOutcome } from "./draw-storyboard.ts";
import { type PlannedChild, planAvatar, planClip, planKeyframe, planSpeech } from "./plan-children.ts";
import { estimateSpeakingSeconds, isSpeakable } from "./speaking-time.ts";
import { getStageModels, type StageModels } from "./stage-models.ts";

/** The purpose of a line's task. Purposes are stored, so these texts must not change. */
export function nameLine({ id }: Shot, index: number): string {
  return `${id} line ${index + 1}`;
}

export function nameKeyframe({ id }: Shot): string {
  return `${id} picture`;
}

export function nameClip({ id }: Shot): string {
  return id;
}

/** Silence around the lines: between them, and at both ends together. */
const pauseMs = 400;
const edgesMs = 800;
const titleSeconds = 3;

/** A child task of this drama, or a part of the video whose shot it makes again. */
type Part = Pick<Task, "type" | "state" | "error"> & {
  output: readonly Pick<TaskOutput, "fileId" | "durationMs">[];
};
type Parts = ReadonlyMap<string, Part>;

export type Filming = {
  /** Without the shots beyond the longest video. */
  board: StoryboardDocument;
  lines: Parts;
  clips: Parts;
  /** This drama's own child tasks. */
  own: { lines: Children; clips: Children };
  /** How many shots are beyond the longest video. */
  beyondCount: number;
};

/**
 * Starts the tasks for lines and clips as soon as possible: a clip is as long as its lines, so it waits for their audio,
 * and starts with an image, so it waits for that too.
 */
export async function filmShots(
  { catalog, ids }: DramaDependencies,
  given: CompositeTask,
  { board, context }: { board: StoryboardDocument; context: OrchestrationContext },
): Promise<StepOutcome & { filming: Filming }> {
  const children = await context.listChildren();
  const filming = readFilming(given, board, children);
  const speaks = findStep(given, "speech") !== null;
  const lineNames = speaks ? listLineNames(board) : [];
  const failure = findFailure(given, filming);
  if (failure !== null) {
    // Write the outputs so far before failing.
    await noteProgress(given, { context, filming, speech: [], shots: [], lineNames });
    throw new DramaFailure(failure);
  }
  const models = getStageModels(catalog, given.model);
  const spoken = speaks ? board.shots.flatMap((shot) => planLines(shot, board, models.speech())) : [];
  const missingLines = spoken.filter(({ purpose }) => !filming.lines.has(purpose));
  const missingClips = filming.board.shots.flatMap((shot) => planNext(shot, filming, models));
  const withId = <C extends PlannedChild & { purpose: string }>(child: C) => ({ id: ids.next("task"), ...child });
  const speech = missingLines.map(withId);
  const shots = missingClips.map(withId);
  const task = await noteProgress(given, { context, filming, speech, shots, lineNames });
  const isOver = isDone(findStep(task, "shots")) && isDone(findStep(task, "speech"));
  return { task, isWaiting: !isOver, filming };
}

function readFilming(task: CompositeTask, board: StoryboardDocument, children: readonly Task[]): Filming {
  const { secondsMax, reshoot } = task.request as DramaRequest;
  const own = {
    lines: groupChildren(findStep(task, "speech"), children),
    clips: groupChildren(findStep(task, "shots"), children),
  };
  if (reshoot !== undefined) {
    const clips = new Map([...readKept(reshoot.clips), ...own.clips]);
    const isShown = (shot: Shot): boolean => shot.id === reshoot.shotId || clips.has(nameClip(shot));
    const shown = { ...board, shots: board.shots.filter(isShown) };
    return { board: shown, lines: new Map(readKept(reshoot.lines)), clips, own, beyondCount: 0 };
  }
  const shots = keepFitting(board.shots, own.lines, secondsMax);
  return { board: { ...board, shots }, ...own, own, beyondCount: board.shots.length - shots.length };
}

function readKept(kept: Readonly<Record<string, KeptPart>>): [string, Part][] {
  return Object.entries(kept).map(([purpose, { type, ...output }]) => {
    return [purpose, { type, state: "succeeded", error: null, output: [output] }];
  });
}

/**
 * The shots that begin before the longest video ends: the hold covers no more. Voices can be far slower than a storyboard
 * estimates.
 */
function keepFitting(shots: readonly Shot[], lines: Parts, secondsMax: number): Shot[] {
  let startSeconds = titleSeconds;
  const firstBeyond = shots.findIndex((shot, index) => {
    if (index > 0 && startSeconds >= secondsMax) return true;
    startSeconds += measureShot(shot, lines);
    return false;
  });
  return shots.slice(0, firstBeyond === -1 ? shots.length : firstBeyond);
}

/** By the recorded lines; estimated for those that are not recorded. */
function measureShot(shot: Shot, lines: Parts): number {
  if (shot.lines.length === 0) return shot.duration;
  return shot.lines.reduce((sum, { text }, index) => {
    const recordedMs = lines.get(nameLine(shot, index))?.output[0]?.durationMs ?? null;
    return sum + (recordedMs === null ? estimateSpeakingSeconds(text) : (recordedMs + pauseMs) / 1000);
  }, 0);
}

function findFailure(task: CompositeTask, { lines, clips, board }: Filming): TaskError | null {
  const { isPartialAllowed } = task.request as DramaRequest;
  const [first] = [...lines, ...clips].filter(([, child]) => isLost(child));
  if (first === undefined) return null;
  if (!isPartialAllowed) return explainChild(first[0], first[1]);
  const isEmpty = board.shots.every((shot) => isLost(clips.get(nameClip(shot))));
  return isEmpty ? explainChild("No shot could be made", first[1]) : null;
}

export function hasClip(shot: Shot, { clips }: Filming): boolean {
  return clips.get(nameClip(shot))?.output[0] !== undefined;
}

function listLineNames({ shots }: StoryboardDocument): string[] {
  return shots.flatMap((shot) =>
    shot.lines.flatMap(({ text }, index) => (isSpeakable(text) ? [nameLine(shot, index)] : [])),
  );
}

function isLost(child: Part | undefined): boolean {
  return child !== undefined && isFinal(child.state) && child.state !== "succeeded";
}

function planLines(shot: Shot, board: StoryboardDocument, model: Model): (PlannedChild & { purpose: string })[] {
  return shot.lines.flatMap((line, index) =>
    isSpeakable(line.text) ? [{ purpose: nameLine(shot, index), ...planSpeech(line, board, model) }] : [],
  );
}

/** The next task of a shot, if it can start now. */
function planNext(
  shot: Shot,
  { board, lines, clips }: Filming,
  models: StageModels,
): (PlannedChild & { purpose: string })[] {
  if (clips.has(nameClip(shot))) return [];
  const keyframe = clips.get(nameKeyframe(shot));
  const imageId = (shot.image_file_id ?? keyframe?.output[0]?.fileId ?? null) as FileId | null;
  if (imageId === null && keyframe === undefined) {
    return [{ purpose: nameKeyframe(shot), ...planKeyframe(shot, board, models.image()) }];
  }
  if (keyframe !== undefined && !isFinal(keyframe.state)) return [];
  const said = shot.lines.flatMap((line, index) => (isSpeakable(line.text) ? [lines.get(nameLine(shot, index))] : []));
  if (said.some((line) => line === undefined || !isFinal(line.state))) return [];
  const spokenMs = said.reduce((sum, line) => sum + (line?.output[0]?.durationMs ?? 0), 0);
  const avatar = chooseAvatar(shot, said, { models, imageId, spokenMs });
  if (avatar !== null) return [{ purpose: nameClip(shot), ...planAvatar(board, avatar) }];
  const seconds = said.length === 0 ? shot.duration : (spokenMs + edgesMs + pauseMs * (said.length - 1)) / 1000;
  return [{ purpose: nameClip(shot), ...planClip(shot, board, { model: models.video(), imageId, seconds }) }];
}

/** A shot of one person with one line becomes an avatar video; all others are filmed, with the lines as voice-over. */
function chooseAvatar(
  shot: Shot,
  said: readonly (Part | undefined)[],
  { models, imageId, spokenMs }: { models: StageModels; imageId: FileId | null; spokenMs: number },
): { model: Model; imageId: FileId; audioId: FileId } | null {
  const model = models.avatar();
  const [line] = shot.lines;
  const audioId = said[0]?.output[0]?.fileId;
  const isAlone = shot.lines.length === 1 && shot.characters.length === 1 && line?.speaker === shot.characters[0];
  if (model === null || imageId === null || audioId === undefined || !isAlone) return null;
  const secondsMax = Math.max(...(model.limits.durations ?? [Number.POSITIVE_INFINITY]));
  return spokenMs / 1000 <= secondsMax ? { model, imageId, audioId } : null;
}

type Noted = {
  context: OrchestrationContext;
  filming: Filming;
  speech: readonly (NewChild & { purpose: string })[];
  shots: readonly (NewChild & { purpose: string })[];
  lineNames: readonly string[];
};

/** Writes new child tasks and progress, if anything changed. */
async function noteProgress(
  task: CompositeTask,
  { context, filming, speech, shots, lineNames }: Noted,
): Promise<CompositeTask> {
  const { board, clips, own } = filming;
  const needed = board.shots.filter((shot) => own.clips.has(nameClip(shot)) || !clips.has(nameClip(shot)));
  const clipCount = needed.length + needed.filter((shot) => shot.image_file_id === null).length;
  const spoken = describeStep(findStep(task, "speech"), {
    ...{ children: own.lines, added: speech, needed: lineNames, countAll: lineNames.length },
  });
  const filmed = describeStep(findStep(task, "shots"), {
    ...{ children: own.clips, added: shots, needed: needed.map(nameClip), countAll: clipCount },
  });
  const withSpeech = changeStep(task, "speech", spoken);
  const change = changeStep(withSpeech, "shots", filmed);
  if (JSON.stringify(change.steps) === JSON.stringify(task.steps)) return task;
  const children = [...speech, ...shots].map(({ purpose, ...child }) => child);
  return await context.move(task, { ...change, children });
}

function describeStep(
  step: StepRecord | null,
  given: { children: Children; added: Noted["speech"]; needed: readonly string[]; countAll: number },
): Partial<StepRecord> {
  // A shot that is made again keeps its speech.
  if (step === null) return {};
  const { children, added, needed, countAll } = given;
  const isComplete = added.length === 0 && needed.every((purpose) => children.has(purpose));
  const isOver = isComplete && [...children.values()].every(({ state }) => isFinal(state));
  return {
    state: isOver ? "succeeded" : "processing",
    progress: isOver ? 100 : Math.floor(Math.min(99, measureProgress(children, countAll))),
    taskIds: addIds(step, added),
    output: isOver ? [...children.values()].flatMap(({ output }) => output) : step.output,
  };
}
