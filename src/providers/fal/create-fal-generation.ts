import type { Clock } from "../../lib/clock.ts";
import { readBaseUrl } from "../base-url.ts";
import { confirmCancel } from "../confirm-cancel.ts";
import { ProviderError } from "../contract.ts";
import { failureTable } from "../failures/failure-table.ts";
import type {
  CancelOutcome,
  GenerationCall,
  GenerationProvider,
  Handle,
  MadeOutput,
  PollOutcome,
  SubmitOutcome,
} from "../generation.ts";
import { createMediaClient, type MediaClientOptions, readAnswer, type WholeAnswer } from "../media-client.ts";
import { asRecord } from "../openai-compatible/json-value.ts";
import { findParam, findRequestObstacle } from "../write-media-fields.ts";
import { buildFalInput } from "./build-fal-input.ts";
import { type FalHandle, parseFalHandle, readFalReply } from "./fal-handle.ts";
import { findFalFields } from "./find-fal-fields.ts";
import { isCanceled, isFromFal, isStillRunning, readFalError } from "./read-fal-error.ts";
import { readFalOutputs } from "./read-fal-outputs.ts";

export type FalOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** The address before the model's path. */
  baseUrl?: string | undefined;
  clock: Clock;
};

export const falBaseUrl = "https://queue.fal.run";
const replyBytesMax = 4 * 1024 * 1024;
/** Status requests are answered immediately, or not at all. */
const questionMsMax = 30_000;
/** We store our own copies, so fal need not store outputs for longer than a day. */
const lifetime = { "x-fal-object-lifecycle-preference": JSON.stringify({ expiration_duration_seconds: 86_400 }) };

const running = { kind: "running", isStarted: true, progress: null } as const;

/** Images, videos and avatars through fal's queue, which serves many vendors' models. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one client; each function is one request to the vendor.
export function createFalGeneration(options: FalOptions): GenerationProvider {
  const { clock } = options;
  const baseUrl = readBaseUrl(options.baseUrl ?? falBaseUrl);
  const client = createMediaClient({
    ...options,
    origin: baseUrl.origin,
    auth: { name: "authorization", prefix: "Key " },
  });
  const refuse = (answer: WholeAnswer, { request, route, upstreamModel }: GenerationCall): ProviderError =>
    readFalError(answer, {
      clock,
      findParam: (field) => findParam(field, findFalFields(upstreamModel)[request.type] ?? {}, route),
    });

  async function submit(call: GenerationCall): Promise<SubmitOutcome> {
    const { apiKey, timeoutMs, signal, upstreamModel } = call;
    const body = JSON.stringify(await buildFalInput(call));
    const path = addHook(baseUrl.pathOf(encodePath(upstreamModel)), call);
    const headers = { "content-type": "application/json", accept: "application/json", ...lifetime };
    const once = await client.sendOnce({ method: "POST", path, headers, body, apiKey, timeoutMs, signal }, (answer) =>
      readAnswer(answer, { bytesMax: replyBytesMax, signal }),
    );
    if (once.kind === "ambiguous") return once;
    const { answer } = once;
    if (answer.status >= 300) {
      const error = refuse(answer, call);
      if (isCertainlyRefused(answer)) throw error;
      return { kind: "ambiguous", error };
    }
    const handle = readFalReply(answer.body, { baseUrl, upstreamModel });
    if (handle !== null) return { kind: "accepted", handle };
    return { kind: "ambiguous", error: createBadAnswer("The response has no request id.", answer) };
  }

  async function ask(method: "GET" | "PUT", path: string, call: GenerationCall): Promise<WholeAnswer> {
    const { apiKey, signal } = call;
    const timeoutMs = Math.min(call.timeoutMs, questionMsMax);
    const headers = { accept: "application/json" };
    return await client.ask({ method, path, headers, body: null, apiKey, timeoutMs, signal, bytesMax: replyBytesMax });
  }

  async function poll(handle: Handle, call: GenerationCall): Promise<PollOutcome> {
    const place = getPlace(handle);
    const answer = await ask("GET", place.statusPath, call);
    if (answer.status === 404) return { kind: "lost" };
    if (answer.status >= 300) throw refuse(answer, call);
    const status = asRecord(answer.body)?.status;
    if (typeof status !== "string") throw createBadAnswer("The response has no status.", answer);
    if (status === "IN_QUEUE") return { ...running, isStarted: false };
    return status === "COMPLETED" ? await readResult(place, call) : running;
  }

  /** `COMPLETED` does not mean success: only the result tells. */
  async function readResult({ resultPath }: FalHandle, call: GenerationCall): Promise<PollOutcome> {
    const answer = await ask("GET", resultPath, call);
    if (answer.status < 300) {
      // A cut or replaced reply says nothing about the job.
      if (asRecord(answer.body) === null) throw createBadAnswer("The result is no JSON object.", answer);
      return present(answer, call);
    }
    if (isStillRunning(answer)) return running;
    if (isCanceled(answer)) return { kind: "canceled", outputs: [] };
    if (answer.status === 404) return { kind: "lost" };
    const error = refuse(answer, call);
    // A fault of our key, our rate limit or a proxy says nothing about the job, which may be fine.
    const isAboutWork = failureTable[error.kind].fault !== "account" && error.kind !== "unexplained";
    if (!isAboutWork || !isFromFal(answer)) throw error;
    return { kind: "failed", error };
  }

  function present(answer: WholeAnswer, { request, apiKey }: GenerationCall): PollOutcome {
    const { outputs, isWithheld } = readFalOutputs(answer.body, request);
    if (outputs.length === 0) {
      const error = isWithheld
        ? new ProviderError("content-refused", "The upstream withheld the output because of its content.")
        : createBadAnswer("The result has no outputs.", answer);
      return { kind: "failed", error };
    }
    const made = outputs.map(
      ({ type, url }): MadeOutput => ({ type, open: (signal) => client.download(url, { signal, apiKey }) }),
    );
    return { kind: "done", outputs: made };
  }

  async function cancel(handle: Handle, call: GenerationCall): Promise<CancelOutcome> {
    const place = getPlace(handle);
    const answer = await ask("PUT", place.cancelPath, call);
    if (asRecord(answer.body)?.status === "ALREADY_COMPLETED") return "too-late";
    // Unknown, or not known yet: the next poll finds out.
    if (answer.status === 404) return "requested";
    if (answer.status >= 300) throw refuse(answer, call);
    return await confirmCancel(() => poll(handle, call));
  }

  return {
    traits: { isRepeatable: false, keepsWork: true, cancels: "while-queued", pollMsMin: 1000, pollMsMax: 10_000 },
    // Callbacks through another address are not signed with fal's keys.
    hook: baseUrl.origin === falBaseUrl ? { signature: "fal" } : {},
    findObstacle: (request, search) => findRequestObstacle(request, search, findFalFields(search.upstreamModel ?? "")),
    submit,
    poll,
    cancel,
    close: () => client.close(),
  };
}

/**
 * An error from fal itself, and any status below 500, means that the request was not queued. An error from a proxy
 * (such as a gateway timeout) leaves it open, except 503, which is sent before forwarding.
 */
function isCertainlyRefused(answer: WholeAnswer): boolean {
  return answer.status < 500 || answer.status === 503 || isFromFal(answer);
}

function addHook(path: string, { callback = null }: GenerationCall): string {
  if (callback === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}fal_webhook=${encodeURIComponent(callback.url)}`;
}

function getPlace(handle: Handle): FalHandle {
  const place = parseFalHandle(handle);
  if (place === null) throw new ProviderError("bad-answer", "The task's handle is not one of this upstream.");
  return place;
}

function encodePath(model: string): string {
  return model.split("/").map(encodeURIComponent).join("/");
}

function createBadAnswer(message: string, { status }: WholeAnswer): ProviderError {
  return new ProviderError("bad-answer", message, { detail: { status } });
}
