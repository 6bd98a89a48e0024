import { invariant } from "../../lib/invariant.ts";
import {
  type CompositeTask,
  listFinished,
  type Orchestrate,
  type OrchestrationContext,
  type TaskWarning,
} from "../tasks/index.ts";
import type { RolesDocument, StoryboardDocument } from "./drama-documents.ts";
import { explainFailure } from "./drama-failure.ts";
import type { DramaParts } from "./drama-parts.ts";
import type { DramaRequest, StepName } from "./drama-request.ts";
import { completeStep, findStep, isDone } from "./drama-step.ts";
import { drawStoryboard } from "./draw-storyboard.ts";
import { filmShots } from "./film-shots.ts";
import { produceFilm } from "./produce-film.ts";
import { warnOfShortened, warnOfUndrawn } from "./warn-of-gaps.ts";
import { findDocument, writeDocument } from "./write-document.ts";

const lookMsMin = 300;
const lookMsMax = 2_000;
const share = 0.05;

/**
 * Takes a drama as far as it goes now, and says when to look at it again. The only place that knows the order of its
 * steps. Everything it decides by is written, so that whoever comes after a crash goes on from there.
 */
export async function orchestrateDrama(
  parts: DramaParts,
  given: CompositeTask,
  context: OrchestrationContext,
): ReturnType<Orchestrate> {
  let task = given;
  let part: StepName = "script";
  try {
    for (const name of ["script", "roles"] as const) {
      part = name;
      if (!isDone(findStep(task, name))) task = await writeDocument(parts, task, { name, context });
    }
    part = "storyboard";
    if (!isDone(findStep(task, "storyboard"))) {
      const outcome = await drawStoryboard(parts, task, context);
      task = outcome.task;
      if (outcome.isWaiting) return { kind: "waiting", until: chooseNextLook(parts, task) };
    }
    if (findStep(task, "film") === null) {
      const warnings = await warnOfBoard(parts, task);
      return { kind: "concluded", end: { state: "succeeded", output: listFinished(task), warnings } };
    }
    part = "shots";
    const board = await getBoard(parts, task);
    const outcome = await filmShots(parts, task, { board, context });
    task = outcome.task;
    if (outcome.isWaiting) return { kind: "waiting", until: chooseNextLook(parts, task) };
    part = "film";
    const film = await produceFilm(parts, task, { filming: outcome.filming, context });
    const steps = completeStep(film.task, "film", film.output).steps;
    const warnings = [...film.warnings, ...(await listShortened(parts, task))];
    const output = listFinished({ ...film.task, steps });
    return { kind: "concluded", end: { state: "succeeded", output, warnings, steps } };
  } catch (error) {
    const failure = context.signal.aborted ? null : explainFailure(part, error);
    if (failure === null) throw error;
    parts.logger.warn({ task_id: task.id, account_id: task.accountId, error }, "a drama failed");
    return { kind: "concluded", end: { state: "failed", error: failure, output: listFinished(task) } };
  }
}

/** In the ratio that this drama is made in, whatever the storyboard was drawn for. */
async function getBoard(parts: DramaParts, task: CompositeTask): Promise<StoryboardDocument> {
  const { aspectRatio } = task.request as DramaRequest;
  const board = await findDocument<StoryboardDocument>(parts, task, "storyboard");
  invariant(board !== null, "shots follow a storyboard");
  return { ...board, aspect_ratio: aspectRatio };
}

/** The longer it takes, the less often it is looked at. */
function chooseNextLook({ clock }: DramaParts, { createdAt, deadlineAt }: CompositeTask): Date {
  const nowMs = clock.now().getTime();
  const delayMs = Math.min(Math.max((nowMs - createdAt.getTime()) * share, lookMsMin), lookMsMax);
  return new Date(Math.min(nowMs + delayMs, deadlineAt.getTime()));
}

/** What there is to say of a storyboard that nobody films yet. */
async function warnOfBoard(parts: DramaParts, task: CompositeTask): Promise<TaskWarning[]> {
  const board = await findDocument<StoryboardDocument>(parts, task, "storyboard");
  return board === null ? [] : [...warnOfUndrawn(board), ...(await listShortened(parts, task))];
}

/** Where the storyboard is this drama's own. */
async function listShortened(parts: DramaParts, task: CompositeTask): Promise<TaskWarning[]> {
  if (findStep(task, "storyboard") === null) return [];
  const { secondsMax } = task.request as DramaRequest;
  const roles = await findDocument<RolesDocument>(parts, task, "roles");
  const board = await findDocument<StoryboardDocument>(parts, task, "storyboard");
  return roles === null || board === null ? [] : warnOfShortened(roles, board, secondsMax);
}
