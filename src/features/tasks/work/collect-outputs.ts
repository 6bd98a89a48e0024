import { AppError } from "../../../platform/errors/app-error.ts";
import type { MadeOutput } from "../../../providers/generation.ts";
import type { MediaTask, TaskOutput } from "../task.ts";
import type { WorkerDependencies } from "./worker-dependencies.ts";

/**
 * Copies outputs into our own storage. A file that is not of the expected media type counts as not delivered. Throws a
 * `ProviderError` if a download fails.
 */
export async function collectOutputs(
  dependencies: WorkerDependencies,
  task: MediaTask,
  { made, signal }: { made: readonly MadeOutput[]; signal: AbortSignal },
): Promise<TaskOutput[]> {
  const output: TaskOutput[] = [];
  for (const [index, item] of made.entries()) {
    const stored = await storeOutput(dependencies, task, { item, index, signal });
    if (stored !== null) output.push(stored);
    dependencies.failpoint("output-stored");
  }
  return output;
}

/** As OpenAI defines it: 24 kHz, 16 bits, mono, headerless. */
const samples = { contentType: "audio/pcm", bytesPerSecond: 48_000 };

function isBareSamples({ request }: MediaTask): boolean {
  return request.type === "speech" && request.format === "pcm";
}

/** Returns `null` if there is nothing usable to store. */
async function storeOutput(
  { files, logger }: WorkerDependencies,
  task: MediaTask,
  { item, index, signal }: { item: MadeOutput; index: number; signal: AbortSignal },
): Promise<TaskOutput | null> {
  const id = task.outputIds[index];
  if (id === undefined) return null;
  const { type } = item;
  try {
    const bytes = await item.open(signal);
    const { request } = task;
    const file = await files.keepOutput({
      ...{ id, accountId: task.accountId, kind: type, bytes, signal },
      ...(isBareSamples(task) ? { samples } : {}),
      ...(request.type === "image" && request.format !== undefined ? { format: request.format } : {}),
    });
    const { contentType, sha256, width, height, durationMs, expiresAt } = file;
    return {
      ...{ type, fileId: id, contentType, bytes: file.bytes, sha256, width, height, durationMs, expiresAt },
      // A composite task copies the outputs of its children, and nothing would erase this from the copy.
      ...(item.revisedPrompt === undefined || task.parentId !== null ? {} : { revisedPrompt: item.revisedPrompt }),
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_file") throw error;
    logger.warn({ task_id: task.id, account_id: task.accountId, output: index, error }, "upstream output rejected");
    return null;
  }
}
