import { invariant } from "../../lib/invariant.ts";
import type { CompositeTask, OrchestrationContext } from "../tasks/index.ts";
import { composeRoles } from "./compose-roles.ts";
import { composeScript } from "./compose-script.ts";
import { composeStoryboard } from "./compose-storyboard.ts";
import type { DramaDocument, RolesDocument, ScriptDocument, StoryboardDocument } from "./drama-documents.ts";
import { type DramaParts, getStageModels } from "./drama-parts.ts";
import { type DramaRequest, fileSlots } from "./drama-request.ts";
import { changeStep, completeStep, findStep } from "./drama-step.ts";

type WritingStep = "script" | "roles" | "storyboard";

/** A document of a drama, from the source or from where its step put it; `null` while there is none. */
export async function findDocument<D extends DramaDocument>(
  { shelf }: Pick<DramaParts, "shelf">,
  task: CompositeTask,
  slot: "script" | "roles" | "shotList" | "storyboard",
): Promise<D | null> {
  const { source } = task.request as DramaRequest;
  const object = `drama.${slot === "shotList" ? "storyboard" : slot}`;
  if (source.kind === "document" && source.document.object === object) return source.document as D;
  return await shelf.find<D>(task.accountId, getFileId(task, slot));
}

export function getFileId(task: CompositeTask, slot: keyof typeof fileSlots) {
  const id = task.outputIds[fileSlots[slot]];
  invariant(id !== undefined, "a drama has an id for every file that it makes");
  return id;
}

/** Writes the script, or the roles, and says so. */
export async function writeDocument(
  parts: DramaParts,
  given: CompositeTask,
  { name, context }: { name: Exclude<WritingStep, "storyboard">; context: OrchestrationContext },
): Promise<CompositeTask> {
  const task = await beginStep(given, name, context);
  const { output } = await keepOnce(parts, task, {
    slot: name,
    signal: context.signal,
    compose: () => (name === "script" ? writeScript(parts, task, context) : writeRoles(parts, task, context)),
  });
  return await context.move(task, completeStep(task, name, [output]));
}

export async function beginStep(
  task: CompositeTask,
  name: "script" | "roles" | "storyboard" | "film",
  context: OrchestrationContext,
): Promise<CompositeTask> {
  if (findStep(task, name)?.state !== "queued") return task;
  return await context.move(task, changeStep(task, name, { state: "processing" }));
}

/** What was written before a crash is not written again: asking a model twice gives two stories. */
export async function keepOnce<D extends DramaDocument>(
  parts: DramaParts,
  task: CompositeTask,
  { slot, signal, compose }: { slot: WritingStep | "shotList"; signal: AbortSignal; compose(): Promise<D> },
) {
  const { accountId } = task;
  const fileId = getFileId(task, slot);
  const document = (await parts.shelf.find<D>(accountId, fileId)) ?? (await compose());
  parts.failpoint("document-written");
  const type = slot === "shotList" ? "storyboard" : slot;
  const kept = await parts.shelf.keep(document, { accountId, fileId, type, signal });
  parts.failpoint("document-kept");
  return kept;
}

async function writeScript(
  parts: DramaParts,
  task: CompositeTask,
  { signal }: OrchestrationContext,
): Promise<DramaDocument> {
  const request = task.request as DramaRequest;
  const { source } = request;
  invariant(source.kind === "text", "a script is written from a text");
  const modelId = getStageModels(parts, task.model).script().id;
  return await composeScript(parts.ask, { ...request, source }, { modelId, signal });
}

async function writeRoles(
  parts: DramaParts,
  task: CompositeTask,
  { signal }: OrchestrationContext,
): Promise<DramaDocument> {
  const request = task.request as DramaRequest;
  const script = await findDocument<ScriptDocument>(parts, task, "script");
  invariant(script !== null, "roles follow a script");
  const models = getStageModels(parts, task.model);
  const modelId = models.roles().id;
  const voices = findVoices(parts, task);
  const head = { title: request.title, episode: request.episode };
  return await composeRoles(parts.ask, { ...script, ...head }, { request, voices, modelId, signal });
}

/** A model that makes no films has nobody to speak; then any name is as good as another. */
function findVoices({ catalog }: DramaParts, task: CompositeTask): readonly string[] {
  const { modelById } = catalog.current();
  const speaker = modelById.get(task.model)?.stages?.video?.speech;
  return modelById.get(speaker ?? "")?.limits.voices ?? [];
}

/** The storyboard before it is drawn. */
export async function writeShotList(
  parts: DramaParts,
  task: CompositeTask,
  context: OrchestrationContext,
): Promise<StoryboardDocument> {
  const known = await findDocument<StoryboardDocument>(parts, task, "shotList");
  if (known !== null) return known;
  const { title, episode, aspectRatio, secondsMax } = task.request as DramaRequest;
  const { document } = await keepOnce<StoryboardDocument>(parts, task, {
    slot: "shotList",
    signal: context.signal,
    async compose() {
      const roles = await findDocument<RolesDocument>(parts, task, "roles");
      invariant(roles !== null, "a storyboard follows roles");
      const modelId = getStageModels(parts, task.model).storyboard().id;
      const cast = { ...roles, script: { ...roles.script, title, episode } };
      return await composeStoryboard(parts.ask, cast, { aspectRatio, secondsMax, modelId, signal: context.signal });
    },
  });
  return document;
}
