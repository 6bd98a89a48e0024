import { Readable } from "node:stream";
import { AppError } from "../../platform/errors/app-error.ts";
import { GuardedFetchError } from "../../platform/net/guarded-fetch.ts";
import type { GenerationInput } from "../../providers/generation.ts";
import type { Task, TaskInput } from "./task.ts";
import type { TaskParts } from "./task-parts.ts";

type InputParts = Pick<TaskParts, "files" | "guarded" | "clock">;

const imageBytesMax = 20 * 1024 * 1024;
const fetchMsMax = 20_000;
const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const kindsByRole = { image: ["image"], person: ["image", "video"], audio: ["audio"] } as const;

/**
 * What a task starts from, read and checked as far as it comes from strangers. Throws an AppError that names the field
 * where a file is gone or an address leads to nothing that can be used.
 */
export async function loadInputs(parts: InputParts, task: Task, signal: AbortSignal): Promise<GenerationInput[]> {
  return await Promise.all(task.inputs.map((input) => loadInput(parts, task, input, signal)));
}

async function loadInput(
  parts: InputParts,
  task: Task,
  input: TaskInput,
  signal: AbortSignal,
): Promise<GenerationInput> {
  const { role, param } = input;
  const kinds = kindsByRole[role];
  if ("fileId" in input) {
    const file = await parts.files.getFile(task.accountId, input.fileId, { param, kinds });
    return {
      role,
      contentType: file.contentType,
      bytes: file.bytes,
      open: () => parts.files.openFile(file),
      url: parts.files.signLink(file.id, parts.clock.now()).url,
    };
  }
  const bytes = await fetchImage(parts, input.url, { param, signal });
  const { contentType } = await parts.files.inspect(bytes, { param, kinds });
  return { role, contentType, bytes: bytes.length, open: async () => Readable.from([bytes]), url: input.url };
}

async function fetchImage(
  { guarded }: InputParts,
  url: string,
  { param, signal }: { param: string; signal: AbortSignal },
): Promise<Buffer> {
  try {
    const options = { bytesMax: imageBytesMax, timeoutMs: fetchMsMax, acceptedTypes: imageTypes, signal };
    return (await guarded.fetchBytes(url, options)).bytes;
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    throw new AppError("invalid_url", error.message, { param, cause: error });
  }
}
