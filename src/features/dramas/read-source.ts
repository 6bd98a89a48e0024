import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type DramaStage, dramaStages } from "../catalog/index.ts";
import { findTask, isFinal, type Task } from "../tasks/index.ts";
import type { DocumentShelf } from "./document-shelf.ts";
import type { DramaDocument } from "./drama-documents.ts";
import { type DramaRequest, nameStage, stepByStage } from "./drama-request.ts";
import type { DramaBody } from "./drama-schema.ts";

/** What a drama begins with: the caller's own document before that of an earlier task before a text. */
export async function readSource(
  { database, shelf }: { database: Database; shelf: DocumentShelf },
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
  return { source: { kind: "document", document: await findDocument(shelf, earlier, stage) }, earlier };
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
  if (task.request.type !== "drama") refuse(`${task.id} is no drama but a task for ${task.type}.`);
  if (task.promptErasedAt !== null) refuse(`What ${task.id} was asked for is no longer kept.`);
  if (!isFinal(task.state)) refuse(`${task.id} has not ended yet: it is ${task.state}.`);
  return task;
}

/** The latest document of the task that the stage can go on from. */
async function findDocument(shelf: DocumentShelf, task: Task, stage: DramaStage): Promise<DramaDocument> {
  const usable = dramaStages.slice(0, dramaStages.indexOf(stage)).toReversed();
  for (const earlier of usable) {
    const output = task.output.find(({ type }) => type === earlier);
    if (output !== undefined) return await shelf.get(task.accountId, output.fileId, "from_task_id");
  }
  const { source } = task.request as DramaRequest;
  if (source.kind === "document" && usable.includes(nameStage(source.document))) return source.document;
  const wanted = dramaStages.slice(0, dramaStages.indexOf(stage)).join(", ");
  return refuse(
    wanted === ""
      ? "A script is written from a text: leave out `from_task_id`."
      : `${task.id} made nothing that the stage ${stage} can go on from; it needs one of these: ${wanted}.`,
  );
}

function requireEarlier(given: DramaStage, stage: DramaStage, param: string): void {
  if (dramaStages.indexOf(given) < dramaStages.indexOf(stage)) return;
  const message = `A ${given} document is what the stage ${given} makes; the stage ${stage} does not go on from it.`;
  throw new AppError("invalid_parameter", message, { param });
}

function refuse(message: string): never {
  throw new AppError("invalid_parameter", message, { param: "from_task_id" });
}

/** The steps that lead from the source to the stage. */
export function listSteps({ source, stage }: Pick<DramaRequest, "source" | "stage">) {
  const first = source.kind === "text" ? 0 : dramaStages.indexOf(nameStage(source.document)) + 1;
  return dramaStages
    .slice(first, dramaStages.indexOf(stage) + 1)
    .flatMap((each) => (each === "video" ? (["shots", "speech", "film"] as const) : [stepByStage[each]]));
}
