import { Readable } from "node:stream";
import { AppError } from "../../../platform/errors/app-error.ts";
import { GuardedFetchError } from "../../../platform/net/guarded-client.ts";
import type { GenerationInput } from "../../../providers/generation.ts";
import { kindsByRole, type Task, type TaskInput } from "../task.ts";
import type { WorkerDependencies } from "./worker-dependencies.ts";

type InputDependencies = Pick<WorkerDependencies, "files" | "guarded" | "clock">;

const imageBytesMax = 20 * 1024 * 1024;
const fetchMsMax = 20_000;
const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/**
 * Loads a task's inputs, and checks those fetched from URLs. Throws an `AppError` that names the field if a file is gone
 * or a URL does not lead to a usable file.
 */
export async function loadInputs(
  dependencies: InputDependencies,
  task: Task,
  signal: AbortSignal,
): Promise<GenerationInput[]> {
  return await Promise.all(task.inputs.map((input) => loadInput(dependencies, task, input, signal)));
}

async function loadInput(
  { files, guarded, clock }: InputDependencies,
  task: Task,
  input: TaskInput,
  signal: AbortSignal,
): Promise<GenerationInput> {
  const { role, param } = input;
  const kinds = kindsByRole[role];
  if ("fileId" in input) {
    const file = await files.getFile(task.accountId, input.fileId, { param, kinds });
    return {
      role,
      contentType: file.contentType,
      bytes: file.bytes,
      open: () => files.openFile(file),
      url: files.signLink(file.id, clock.now()).url,
    };
  }
  const bytes = await fetchImage(guarded, input.url, { param, signal });
  const { contentType } = await files.inspect(bytes, { param, kinds });
  return { role, contentType, bytes: bytes.length, open: async () => Readable.from([bytes]), url: input.url };
}

async function fetchImage(
  guarded: WorkerDependencies["guarded"],
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
