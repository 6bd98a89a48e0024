import { invariant } from "../../lib/invariant.ts";
import { type CompositeTask, isFinal, type OrchestrationContext, type TaskOutput } from "../tasks/index.ts";
import { addIds, groupChildren, measureProgress } from "./child-progress.ts";
import { beginStep, type DocumentWriter } from "./create-document-writer.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { StoryboardDocument } from "./drama-documents.ts";
import { DramaFailure, explainChild } from "./drama-failure.ts";
import type { DramaRequest } from "./drama-request.ts";
import { changeStep, completeStep, findStep } from "./drama-step.ts";
import { planKeyframe } from "./plan-children.ts";
import { getStageModels } from "./stage-models.ts";

/** Whether the step is done or waits for its child tasks. */
export type StepOutcome = { task: CompositeTask; isWaiting: boolean };

/** Breaks the script into shots, then generates an image for each; the storyboard contains both. */
export async function drawStoryboard(
  dependencies: DramaDependencies & { writer: DocumentWriter },
  given: CompositeTask,
  context: OrchestrationContext,
): Promise<StepOutcome> {
  const { writer } = dependencies;
  const begun = await beginStep(given, "storyboard", context);
  const shotList = await writer.writeShotList(begun, context);
  const task = await requestImages(dependencies, begun, { shotList, context });
  const step = findStep(task, "storyboard");
  const images = groupChildren(step, await context.listChildren());
  const { isPartialAllowed } = task.request as DramaRequest;
  const failed = [...images].find(([, { state }]) => isFinal(state) && state !== "succeeded");
  if (failed !== undefined && !isPartialAllowed) {
    throw new DramaFailure(explainChild(`The image of ${failed[0]}`, failed[1]));
  }
  if ([...images.values()].some(({ state }) => !isFinal(state))) {
    const progress = 20 + 0.75 * measureProgress(images, shotList.shots.length);
    if (Math.floor(progress) === step?.progress) return { task, isWaiting: true };
    return { task: await context.move(task, changeStep(task, "storyboard", { progress })), isWaiting: true };
  }
  const outputs = shotList.shots.flatMap(({ id }) => images.get(id)?.output.slice(0, 1) ?? []);
  const storyboard = await keepStoryboard(writer, task, { shotList, images, context });
  return {
    task: await context.move(task, completeStep(task, "storyboard", [storyboard, ...outputs])),
    isWaiting: false,
  };
}

async function requestImages(
  { catalog, ids }: DramaDependencies,
  task: CompositeTask,
  { shotList, context }: { shotList: StoryboardDocument; context: OrchestrationContext },
): Promise<CompositeTask> {
  const step = findStep(task, "storyboard");
  invariant(step !== null, "a drama without a storyboard needs no images");
  if (Object.keys(step.taskIds).length > 0) return task;
  const model = getStageModels(catalog, task.model).image();
  const requested = shotList.shots.map((shot) => ({
    purpose: shot.id,
    id: ids.next("task"),
    ...planKeyframe(shot, shotList, model),
  }));
  const change = changeStep(task, "storyboard", { progress: 20, taskIds: addIds(step, requested) });
  return await context.move(task, { ...change, children: requested.map(({ purpose, ...child }) => child) });
}

async function keepStoryboard(
  writer: DocumentWriter,
  task: CompositeTask,
  {
    shotList,
    images,
    context,
  }: { shotList: StoryboardDocument; images: ReturnType<typeof groupChildren>; context: OrchestrationContext },
): Promise<TaskOutput> {
  const shots = shotList.shots.map((shot) => ({
    ...shot,
    image_file_id: images.get(shot.id)?.output[0]?.fileId ?? null,
  }));
  const { output } = await writer.keepOnce<StoryboardDocument>(task, {
    slot: "storyboard",
    signal: context.signal,
    compose: async () => ({ ...shotList, shots }),
  });
  return output;
}
