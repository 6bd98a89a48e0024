import { invariant } from "../../lib/invariant.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { CompositeTask, OrchestrationContext, Task, TaskOutput } from "../tasks/index.ts";
import { composeRoles } from "./compose-roles.ts";
import { composeScript } from "./compose-script.ts";
import { composeStoryboard } from "./compose-storyboard.ts";
import type { DocumentStorage } from "./document-storage.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { DramaDocument, RolesDocument, ScriptDocument, StoryboardDocument } from "./drama-documents.ts";
import { type DramaRequest, fileSlots, takeLook } from "./drama-request.ts";
import { changeStep, completeStep, findStep } from "./drama-step.ts";
import { getStageModels } from "./stage-models.ts";

type Slot = "script" | "roles" | "shotList" | "storyboard";

/** Writes a drama's documents, each once. */
export type DocumentWriter = {
  /** A document from the source or from an earlier step; `null` if it does not exist yet. */
  find<D extends DramaDocument>(task: CompositeTask, slot: Slot): Promise<D | null>;
  /** Writes the script or the roles, and completes the step. */
  write(
    task: CompositeTask,
    options: { name: "script" | "roles"; context: OrchestrationContext },
  ): Promise<CompositeTask>;
  /** The storyboard without images. */
  writeShotList(task: CompositeTask, context: OrchestrationContext): Promise<StoryboardDocument>;
  /** Does not rewrite a document after a crash: asking a model twice yields two stories. */
  keepOnce<D extends DramaDocument>(
    task: CompositeTask,
    options: { slot: Slot; signal: AbortSignal; compose(): Promise<D> },
  ): Promise<{ document: D; output: TaskOutput }>;
};

type WrittenTask = Pick<Task, "accountId" | "request" | "outputIds">;

async function findDocument<D extends DramaDocument>(
  documents: DocumentStorage,
  task: WrittenTask,
  slot: Slot,
): Promise<D | null> {
  const { source } = task.request as DramaRequest;
  const object = `drama.${slot === "shotList" ? "storyboard" : slot}`;
  if (source.kind === "document" && source.document.object === object) return source.document as D;
  return await documents.find<D>(task.accountId, getFileId(task, slot));
}

export function createDocumentWriter({ documents, askFor, catalog, failpoint }: DramaDependencies): DocumentWriter {
  const find: DocumentWriter["find"] = (task, slot) => findDocument(documents, task, slot);

  const keepOnce: DocumentWriter["keepOnce"] = async (task, { slot, signal, compose }) => {
    const { accountId } = task;
    const fileId = getFileId(task, slot);
    const document =
      (await documents.find<Awaited<ReturnType<typeof compose>>>(accountId, fileId)) ?? (await compose());
    failpoint("document-written");
    const type = slot === "shotList" ? "storyboard" : slot;
    const kept = await documents.keep(document, { accountId, fileId, type, signal });
    failpoint("document-kept");
    return kept;
  };

  async function composeFirst(task: CompositeTask, name: "script" | "roles", signal: AbortSignal) {
    const request = task.request as DramaRequest;
    const { title, episode, source } = request;
    const models = getStageModels(catalog, task.model);
    const ask = askFor({ accountId: task.accountId, modelId: task.model });
    if (name === "script") {
      invariant(source.kind === "text", "a script is written from a text");
      return await composeScript(ask, { ...request, source }, { modelId: models.script().id, signal });
    }
    const script = await find<ScriptDocument>(task, "script");
    invariant(script !== null, "roles follow a script");
    const voices = findVoices(catalog, task);
    const given = { request, voices, modelId: models.roles().id, signal };
    return await composeRoles(ask, { ...script, title, episode }, given);
  }

  return {
    find,
    keepOnce,
    async write(given, { name, context }) {
      const task = await beginStep(given, name, context);
      const { signal } = context;
      const compose = (): Promise<DramaDocument> => composeFirst(task, name, signal);
      const { output } = await keepOnce(task, { slot: name, signal, compose });
      return await context.move(task, completeStep(task, name, [output]));
    },
    async writeShotList(task, { signal }) {
      const known = await find<StoryboardDocument>(task, "shotList");
      if (known !== null) return known;
      const { title, episode, aspectRatio, secondsMax } = task.request as DramaRequest;
      const { document } = await keepOnce<StoryboardDocument>(task, {
        slot: "shotList",
        signal,
        async compose() {
          const roles = await find<RolesDocument>(task, "roles");
          invariant(roles !== null, "a storyboard follows roles");
          const modelId = getStageModels(catalog, task.model).storyboard().id;
          const cast = { ...roles, script: { ...roles.script, title, episode } };
          const ask = askFor({ accountId: task.accountId, modelId: task.model });
          const board = await composeStoryboard(ask, cast, { aspectRatio, secondsMax, modelId, signal });
          return { ...board, ...takeLook(task.request as DramaRequest) };
        },
      });
      return document;
    },
  };
}

/** The storyboard that a drama started from or wrote; `null` if it is gone. */
export async function findStoryboard(
  documents: DocumentStorage,
  task: WrittenTask,
): Promise<StoryboardDocument | null> {
  return await findDocument<StoryboardDocument>(documents, task, "storyboard");
}

export function getFileId(task: Pick<Task, "outputIds">, slot: keyof typeof fileSlots) {
  const id = task.outputIds[fileSlots[slot]];
  invariant(id !== undefined, "a drama has an id for every file that it makes");
  return id;
}

export async function beginStep(
  task: CompositeTask,
  name: "script" | "roles" | "storyboard" | "film",
  context: OrchestrationContext,
): Promise<CompositeTask> {
  if (findStep(task, name)?.state !== "queued") return task;
  return await context.move(task, changeStep(task, name, { state: "processing" }));
}

/** Without a speech model, any voice is accepted. */
function findVoices(catalog: LiveCatalog, task: CompositeTask): readonly string[] {
  const { modelById } = catalog.current();
  const speaker = modelById.get(task.model)?.stages?.video?.speech;
  return modelById.get(speaker ?? "")?.limits.voices ?? [];
}
