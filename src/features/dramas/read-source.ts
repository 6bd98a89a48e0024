import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type DramaStage, dramaStages } from "../catalog/index.ts";
import { findTask, isFinal, type Task } from "../tasks/index.ts";
import type { DocumentStorage } from "./document-storage.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { DramaDocument } from "./drama-documents.ts";
import { type DramaRequest, nameStage, stepByStage } from "./drama-request.ts";
import type { DramaBody } from "./drama-schema.ts";

/** A drama's source: the caller's document, else an earlier task's document, else a text. */
export async function readSource(
  { database, documents }: DramaDependencies,
  { script, from_task_id: fromTaskId }: DramaBody,
  { accountId, stage }: { accountId: AccountId; stage: DramaStage },
): Promise<{ source: DramaRequest["source"]; earlier: Task | null }> {
  const given = readScript(script);
  if (given?.kind === "document") requireEarlier(nameStage(given.document), stage, "script");
  if (fromTaskId === undefined) {
    if (given === null) throw new AppError("missing_parameter", "`script` is required.", { param: "script" });
    return { source: given, earlier: null };
  }
  const earlier = await getEarlierDrama(database, { id: fromTaskId, accountId });
  if (given?.kind === "document") return { source: given, earlier };
  return { source: { kind: "document", document: await findDocument(documents, earlier, stage) }, earlier };
}

function readScript(script: DramaBody["script"]): DramaRequest["source"] | null {
  if (script === undefined) return null;
  if (typeof script !== "string") return { kind: "document", document: script };
  if (script.trim() === "") throw new AppError("invalid_parameter", "`script` must not be empty.", { param: "script" });
  return { kind: "text", text: script };
}

async function getEarlierDrama(database: Database, asked: { id: string; accountId: AccountId }): Promise<Task> {
  const task = await findTask(database, asked.id);
  if (task === null || task.accountId !== asked.accountId) refuse("There is no such task.");
  if (task.request.type !== "drama") refuse(`${task.id} is a task of the type ${task.type}, not a drama.`);
  if (task.promptErasedAt !== null) refuse(`The request of ${task.id} has been erased.`);
  if (!isFinal(task.state)) refuse(`${task.id} has not ended yet: it is ${task.state}.`);
  return task;
}

/** The task's latest document that the stage can resume from. */
async function findDocument(documents: DocumentStorage, task: Task, stage: DramaStage): Promise<DramaDocument> {
  const usable = dramaStages.slice(0, dramaStages.indexOf(stage)).toReversed();
  for (const earlier of usable) {
    const output = task.output.find(({ type }) => type === earlier);
    if (output !== undefined) return await documents.get(task.accountId, output.fileId, "from_task_id");
  }
  const { source } = task.request as DramaRequest;
  if (source.kind === "document" && usable.includes(nameStage(source.document))) return source.document;
  const wanted = dramaStages.slice(0, dramaStages.indexOf(stage)).join(", ");
  return refuse(
    wanted === ""
      ? "A script starts from a text. Remove `from_task_id`."
      : `${task.id} has no document that the stage ${stage} can resume from. It needs one of: ${wanted}.`,
  );
}

function requireEarlier(given: DramaStage, stage: DramaStage, param: string): void {
  if (dramaStages.indexOf(given) < dramaStages.indexOf(stage)) return;
  const message = `The stage ${stage} cannot resume from a ${given} document.`;
  throw new AppError("invalid_parameter", message, { param });
}

function refuse(message: string): never {
  throw new AppError("invalid_parameter", message, { param: "from_task_id" });
}

/** The steps from the source to the stage. */
export function listSteps({ source, stage }: Pick<DramaRequest, "source" | "stage">) {
  const first = source.kind === "text" ? 0 : dramaStages.indexOf(nameStage(source.document)) + 1;
  return dramaStages
    .slice(first, dramaStages.indexOf(stage) + 1)
    .flatMap((each) => (each === "video" ? (["shots", "speech", "film"] as const) : [stepByStage[each]]));
}
