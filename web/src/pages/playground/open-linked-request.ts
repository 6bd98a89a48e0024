import { getFile } from "../../api/ask-files.ts";
import { getTask, getTaskRequest } from "../../api/ask-tasks.ts";
import { keepStored } from "./kept-file.ts";
import type { MediaType } from "./media-fields.ts";
import type { KeptFile, MediaValues } from "./media-values.ts";
import { listRequestFiles, readRequest } from "./request-values.ts";

/** A request as form values, and how many of its files have expired. */
export type OpenedRequest = { type: MediaType; model: string; taskId: string; values: MediaValues; missing: number };

/** A task's request, with the files that still exist. */
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

/** `null` for an expired file, or for an external URL, which the form does not accept. */
async function findFile(id: string): Promise<KeptFile | null> {
  if (!id.startsWith("file_")) return null;
  return await getFile(id).then(keepStored, () => null);
}
