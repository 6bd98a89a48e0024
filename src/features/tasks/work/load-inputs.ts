import { Readable } from "node:stream";
import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { type GuardedClient, GuardedFetchError } from "../../../platform/net/guarded-client.ts";
import type { GenerationInput } from "../../../providers/generation.ts";
import type { Files } from "../../files/index.ts";
import type { Task, TaskInput } from "../task.ts";

export type InputDependencies = {
  files: Pick<Files, "getFile" | "openFile" | "signLink" | "inspect">;
  /** Fetches caller-supplied URLs with SSRF protection. */
  guarded: Pick<GuardedClient, "fetchBytes">;
  clock: Clock;
};

const imageBytesMax = 20 * 1024 * 1024;
const fetchMsMax = 20_000;
const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const kindsByRole = { image: ["image"], person: ["image", "video"], audio: ["audio"] } as const;

/**
 * Loads a task's inputs, and checks those fetched from URLs. Throws an `AppError` that names the field if a file is gone
 * or
 * a URL does not lead to a usable file.
 */
export async function loadInputs(
  dependencies: InputDependencies,
  task: Task,
  signal: AbortSignal,
): Promise<GenerationInput[]> {
  return await Promise.all(task.inputs.map((input) => loadInput(dependencies, task, input, signal)));
}

async function loadInput(
  dependencies: InputDependencies,
  task: Task,
  input: TaskInput,
  signal: AbortSignal,
): Promise<GenerationInput> {
  const { role, param } = input;
  const kinds = kindsByRole[role];
  if ("fileId" in input) {
    const file = await dependencies.files.getFile(task.accountId, input.fileId, { param, kinds });
    return {
      role,
      contentType: file.contentType,
      bytes: file.bytes,
      open: () => dependencies.files.openFile(file),
      url: dependencies.files.signLink(file.id, dependencies.clock.now()).url,
    };
  }
  const bytes = await fetchImage(dependencies, input.url, { param, signal });
  const { contentType } = await dependencies.files.inspect(bytes, { param, kinds });
  return { role, contentType, bytes: bytes.length, open: async () => Readable.from([bytes]), url: input.url };
}

async function fetchImage(
  { guarded }: InputDependencies,
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
