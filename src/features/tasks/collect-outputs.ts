import { AppError } from "../../platform/errors/app-error.ts";
import { ProviderError } from "../../providers/contract.ts";
import type { MadeOutput } from "../../providers/generation.ts";
import type { NextLook } from "./decide-step.ts";
import { finishTask, type TaskEnd } from "./finish-task.ts";
import type { MediaTask, TaskOutput, TaskWarning } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";

/**
 * Copies what was made into our own storage, then ends the task. What is no picture, film or sound although it should be
 * counts as not made; where nothing is left, that is thrown.
 */
export async function collectOutputs(
  parts: TaskParts,
  task: MediaTask,
  { made, end, signal }: { made: readonly MadeOutput[]; end: "succeeded" | "canceled"; signal: AbortSignal },
): Promise<NextLook> {
  const output: TaskOutput[] = [];
  for (const [index, item] of made.entries()) {
    const stored = await storeOutput(parts, task, { item, index, signal });
    if (stored !== null) output.push(stored);
    parts.reach("output-stored");
  }
  if (end === "succeeded" && output.length === 0) throw new UselessWork("bad-answer", "Nothing usable was made.");
  await finishTask(parts, task, decideEnd(task, output, end));
  return null;
}

/** All of what was made cannot be used, and never will be: another has to make it. */
export class UselessWork extends ProviderError {}

function decideEnd(task: MediaTask, output: TaskOutput[], end: "succeeded" | "canceled"): TaskEnd {
  if (end === "canceled") return { state: "canceled", output };
  return { state: "succeeded", output, warnings: [...warnOfFewer(task, output.length), ...warnOfUnheeded(task)] };
}

function warnOfFewer({ outputIds }: MediaTask, count: number): TaskWarning[] {
  if (count >= outputIds.length) return [];
  const message = `${count} of ${outputIds.length} outputs were made. Only they are charged.`;
  return [{ code: "fewer_outputs", message }];
}

function warnOfUnheeded({ request }: MediaTask): TaskWarning[] {
  const names = request.type === "image" ? (request.unheeded ?? []) : [];
  return names.map((name) => ({
    code: "unheeded_parameter",
    message: `\`${name}\` made no difference: this model has no choice of it.`,
  }));
}

/** As OpenAI's API has it: 24 kHz, 16 bits, one channel, and no header that could be checked. */
const samples = { contentType: "audio/pcm", bytesPerSecond: 48_000 };

function isBareSamples({ request }: MediaTask): boolean {
  return request.type === "speech" && request.format === "pcm";
}

/** `null` where there was nothing that could be kept. */
async function storeOutput(
  { files, logger }: TaskParts,
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
    return { type, fileId: id, contentType, bytes: file.bytes, sha256, width, height, durationMs, expiresAt };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_file") throw error;
    logger.warn({ task: task.id, output: index, error }, "an upstream made something that cannot be used");
    return null;
  }
}
