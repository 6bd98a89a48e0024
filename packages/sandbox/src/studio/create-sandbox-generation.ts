import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { ProviderError } from "../../../../src/providers/contract.ts";
import type {
  GenerationCall,
  GenerationProvider,
  GenerationRequest,
  GenerationTraits,
  Handle,
  MadeOutput,
  PollOutcome,
} from "../../../../src/providers/generation.ts";
import { createScriptedError } from "../sandbox-script.ts";
import type { Studio, StudioAssignment, StudioJob } from "./create-studio.ts";
import { findStudioObstacle } from "./find-studio-obstacle.ts";
import { refuseContent } from "./refuse-content.ts";
import { parseStudioScript, type StudioScript } from "./studio-script.ts";

const traits: GenerationTraits = {
  isRepeatable: true,
  keepsWork: true,
  cancels: "always",
  pollMsMin: 250,
  pollMsMax: 2000,
};
/** Failures of the job itself. Others fail the submission, and no job starts. */
const failuresOfWork: readonly ProviderError["kind"][] = ["content-refused", "too-long", "rejected"];

/**
 * Images, videos, avatars and speech, made on this machine without network access. Deterministic. Words in double
 * brackets make it fail, wait or misbehave: `studio-script.ts` lists them.
 */
export function createSandboxGeneration({ studio }: { studio: Studio }): GenerationProvider {
  return {
    traits,
    findObstacle: findStudioObstacle,

    async submit(call) {
      call.signal.throwIfAborted();
      const { script, assignment } = readCall(call);
      const { failure } = script;
      if (failure !== null && !failuresOfWork.includes(failure.kind)) throw failure;
      studio.startJob(call.taskId, assignment);
      if (script.isAmbiguous) {
        return { kind: "ambiguous", error: createScriptedError("unreachable", "The script breaks the connection.") };
      }
      return { kind: "accepted", handle: { job: call.taskId } };
    },

    async poll(handle, call) {
      call.signal.throwIfAborted();
      const { script, assignment } = readCall(call);
      if (script.isLost) return { kind: "lost" };
      const id = readJobId(handle, call);
      return presentJob(studio.findJob(id) ?? studio.startJob(id, assignment), script);
    },

    async cancel(handle, call) {
      if (readCall(call).script.isUncancelable) return "too-late";
      const id = readJobId(handle, call);
      const job = studio.findJob(id);
      if (job !== null && job.ending !== null) return job.ending.kind === "canceled" ? "canceled" : "too-late";
      await studio.cancelJob(id);
      return "canceled";
    },

    async close() {
      await studio.close();
    },
  };
}

function readJobId({ job }: Handle, call: GenerationCall): string {
  return typeof job === "string" ? job : call.taskId;
}

function readCall({ request, inputs }: GenerationCall): { script: StudioScript; assignment: StudioAssignment } {
  const { text, script } = parseStudioScript(findText(request));
  const isStuck = script.isStuck || script.isSilent;
  const { delayMs } = script;
  const failure = script.failure ?? refuseContent(request);
  return { script, assignment: { request: replaceText(request, text, script), inputs, failure, delayMs, isStuck } };
}

function findText(request: GenerationRequest): string {
  switch (request.type) {
    case "image":
    case "video":
      return request.prompt;
    case "speech":
      return request.text;
    case "avatar":
      return "";
  }
}

/** Removes the script words from the request. */
function replaceText(request: GenerationRequest, text: string, { partialCount }: StudioScript): GenerationRequest {
  switch (request.type) {
    case "image":
      return { ...request, prompt: text, count: Math.max(1, Math.min(request.count, partialCount ?? request.count)) };
    case "video":
      return { ...request, prompt: text };
    case "speech":
      return { ...request, text };
    case "avatar":
      return request;
  }
}

function presentJob(job: StudioJob, script: StudioScript): PollOutcome {
  switch (job.ending?.kind) {
    case undefined:
      return { kind: "running", isStarted: job.isStarted, progress: job.progress };
    case "failed":
      return { kind: "failed", error: job.ending.error };
    case "canceled":
      return { kind: "canceled", outputs: listOutputs(job) };
    case "done":
      return { kind: "done", outputs: script.isEmpty ? [] : listOutputs(job) };
  }
}

function listOutputs(job: StudioJob): MadeOutput[] {
  const uncollected = new Set(job.outputs);
  return job.outputs.map((output) => ({
    type: output.type,
    async open(signal) {
      const stream = await openFile(output.path, signal);
      stream.once("end", () => {
        uncollected.delete(output);
        if (uncollected.size === 0) job.markCollected();
      });
      return stream;
    },
  }));
}

/** A file that was deleted in the meantime is made again when the job is submitted again. */
async function openFile(path: string, signal: AbortSignal): Promise<Readable> {
  try {
    const file = await open(path);
    return file.createReadStream({ signal });
  } catch (cause) {
    throw new ProviderError("unreachable", "The output is no longer stored.", { isIsolated: true, cause });
  }
}
