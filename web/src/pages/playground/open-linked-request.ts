import { getFile } from "../../api/ask-files.ts";
import { getTask, getTaskRequest } from "../../api/ask-tasks.ts";
import { keepStored } from "./kept-file.ts";
import type { MediaType } from "./media-fields.ts";
import type { KeptFile, MediaValues } from "./media-values.ts";
import { listRequestFiles, readRequest } from "./request-values.ts";

/** A request as the form has it, and how many of its files are not kept any more. */
export type OpenedRequest = { type: MediaType; model: string; taskId: string; values: MediaValues; missing: number };

/** What a task was asked for, with its files as far as they are still there. */
export async function openRequest(taskId: string): Promise<OpenedRequest> {
  const [task, request] = await Promise.all([getTask(taskId), getTaskRequest(taskId)]);
  const body = request.body as Record<string, unknown>;
  const ids = [...new Set(listRequestFiles(body))];
  const found = await Promise.all(ids.map(async (id) => [id, await findFile(id)] as const));
  const files = new Map(found);
  return {
    type: task.type,
    model: task.model,
    taskId,
    values: readRequest(body, (id) => files.get(id) ?? null),
    missing: found.filter(([, file]) => file === null).length,
  };
}

/** `null` for one that is gone, or for an address elsewhere, which the form does not take. */
async function findFile(id: string): Promise<KeptFile | null> {
  if (!id.startsWith("file_")) return null;
  return await getFile(id).then(keepStored, () => null);
}
