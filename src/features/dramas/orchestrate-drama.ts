import { invariant } from "../../lib/invariant.ts";
import {
  type CompositeTask,
  listFinished,
  type Orchestrate,
  type OrchestrationContext,
  type TaskWarning,
} from "../tasks/index.ts";
import type { DocumentWriter } from "./create-document-writer.ts";
import type { ProduceFilm } from "./create-film-producer.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { RolesDocument, StoryboardDocument } from "./drama-documents.ts";
import { explainFailure } from "./drama-failure.ts";
import { type DramaRequest, type StepName, takeLook } from "./drama-request.ts";
import { completeStep, findStep, isDone } from "./drama-step.ts";
import { warnOfBeyond, warnOfShortened, warnOfUndrawn } from "./drama-warnings.ts";
import { drawStoryboard } from "./draw-storyboard.ts";
import { filmShots } from "./film-shots.ts";

const pollMsMin = 300;
const pollMsMax = 2_000;
const share = 0.05;

/**
 * Advances a drama as far as possible and returns when to poll it again. The only place that knows the order of the
 * steps. Every decision is based on what is written, so that another worker can resume after a crash.
 */
export async function orchestrateDrama(
  dependencies: DramaDependencies & { writer: DocumentWriter; produceFilm: ProduceFilm },
  given: CompositeTask,
  context: OrchestrationContext,
): ReturnType<Orchestrate> {
  const { clock, logger, writer, produceFilm } = dependencies;
  let task = given;
  let part: StepName = "script";
  try {
    for (const name of ["script", "roles"] as const) {
      part = name;
      if (!isDone(findStep(task, name))) task = await writer.write(task, { name, context });
    }
    part = "storyboard";
    if (!isDone(findStep(task, "storyboard"))) {
      const outcome = await drawStoryboard(dependencies, task, context);
      task = outcome.task;
      if (outcome.isWaiting) return { kind: "waiting", until: chooseNextPoll(clock.now(), task) };
    }
    if (findStep(task, "film") === null) {
      const warnings = await warnOfBoard(writer, task);
      return { kind: "concluded", end: { state: "succeeded", output: listFinished(task), warnings } };
    }
    part = "shots";
    const board = await getBoard(writer, task);
    const outcome = await filmShots(dependencies, task, { board, context });
    task = outcome.task;
    if (outcome.isWaiting) return { kind: "waiting", until: chooseNextPoll(clock.now(), task) };
    part = "film";
    const film = await produceFilm(task, { filming: outcome.filming, context });
    const steps = completeStep(film.task, "film", film.output).steps;
    const { secondsMax } = task.request as DramaRequest;
    const beyond = warnOfBeyond(outcome.filming, secondsMax);
    const warnings = [...film.warnings, ...beyond, ...(await listShortened(writer, task))];
    const output = listFinished({ ...film.task, steps });
    return { kind: "concluded", end: { state: "succeeded", output, warnings, steps } };
  } catch (error) {
    const failure = context.signal.aborted ? null : explainFailure(part, error);
    if (failure === null) throw error;
    logger.warn({ task_id: task.id, account_id: task.accountId, error }, "drama failed");
    return { kind: "concluded", end: { state: "failed", error: failure, output: listFinished(task) } };
  }
}

/** Uses this drama's aspect ratio and look, whatever the storyboard's are. */
async function getBoard(writer: DocumentWriter, task: CompositeTask): Promise<StoryboardDocument> {
  const { aspectRatio, style, seed } = task.request as DramaRequest;
  const board = await writer.find<StoryboardDocument>(task, "storyboard");
  invariant(board !== null, "shots follow a storyboard");
  const { style: _style, seed: _seed, ...others } = board;
  return { ...others, ...takeLook({ style, seed }), aspect_ratio: aspectRatio };
}

/** Polls with backoff. */
function chooseNextPoll(now: Date, { createdAt, deadlineAt }: CompositeTask): Date {
  const nowMs = now.getTime();
  const delayMs = Math.min(Math.max((nowMs - createdAt.getTime()) * share, pollMsMin), pollMsMax);
  return new Date(Math.min(nowMs + delayMs, deadlineAt.getTime()));
}

/** Warnings of a drama that ends with its storyboard. */
async function warnOfBoard(writer: DocumentWriter, task: CompositeTask): Promise<TaskWarning[]> {
  const board = await writer.find<StoryboardDocument>(task, "storyboard");
  return board === null ? [] : [...warnOfUndrawn(board), ...(await listShortened(writer, task))];
}

/** Only if this drama wrote the storyboard itself. */
async function listShortened(writer: DocumentWriter, task: CompositeTask): Promise<TaskWarning[]> {
  if (findStep(task, "storyboard") === null) return [];
  const { secondsMax } = task.request as DramaRequest;
  const roles = await writer.find<RolesDocument>(task, "roles");
  const board = await writer.find<StoryboardDocument>(task, "storyboard");
  return roles === null || board === null ? [] : warnOfShortened(roles, board, secondsMax);
}
