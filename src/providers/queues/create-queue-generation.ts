import type { Clock } from "../../lib/clock.ts";
import { readBaseUrl } from "../base-url.ts";
import { confirmCancel } from "../confirm-cancel.ts";
import { ProviderError } from "../contract.ts";
import { failureTable } from "../failures/failure-table.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import type {
  CancelOutcome,
  GenerationCall,
  GenerationProvider,
  Handle,
  PollOutcome,
  SubmitOutcome,
} from "../generation.ts";
import { createMediaClient, type MediaClientOptions } from "../media-client.ts";
import { pickAll, pickWord } from "../pick.ts";
import { changeKind, isRefusal, judgeError } from "../read-vendor-reply.ts";
import { findProductObstacle } from "./find-products.ts";
import type { QueuePhase, QueueVendor } from "./queue-vendor.ts";
import { ask, createBadAnswer, type Maker, presentOutputs, refuse, submitProduct } from "./submit-product.ts";

export type QueueOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** Instead of the vendor's own. */
  baseUrl?: string | undefined;
  clock: Clock;
};

const pollMsMax = 15_000;
const idPattern = /^[\w./:=-]{1,400}$/;
const dotSegment = /(?:^|\/)\.{1,2}(?:\/|$)/;

type Queue = Maker & { vendor: QueueVendor };

/** A provider from a vendor's table. */
export function createQueueGeneration(vendor: QueueVendor, options: QueueOptions): GenerationProvider {
  const baseUrl = readBaseUrl(options.baseUrl ?? vendor.baseUrl);
  const queue: Queue = {
    ...{ vendor, clock: options.clock },
    client: createMediaClient({ ...options, origin: baseUrl.origin, auth: vendor.auth }),
    place: (path, names) =>
      baseUrl.pathOf(path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodePath(names[name] ?? ""))),
  };
  return {
    traits: {
      ...{ isRepeatable: false, keepsWork: true, cancels: vendor.cancel?.works ?? "never" },
      ...{ pollMsMin: vendor.pollMsMin, pollMsMax: Math.max(pollMsMax, vendor.pollMsMin) },
    },
    ...(vendor.hook === undefined ? {} : { hook: vendor.hook }),
    findObstacle: (request, search) => findProductObstacle(vendor, request, search),
    submit: (call) => submit(queue, call),
    poll: (handle, call) => poll(queue, handle, call),
    cancel: (handle, call) => cancel(queue, handle, call),
    close: () => queue.client.close(),
  };
}

async function submit(queue: Queue, call: GenerationCall): Promise<SubmitOutcome> {
  const outcome = await submitProduct(queue, call);
  if (outcome.kind !== "answered") return outcome;
  const { answer } = outcome;
  const id = pickWord(answer.body, queue.vendor.id);
  if (id !== null && isId(id)) return { kind: "accepted", handle: { id } };
  return { kind: "ambiguous", error: createBadAnswer("The response has no id.", answer) };
}

async function poll(queue: Queue, handle: Handle, call: GenerationCall): Promise<PollOutcome> {
  const { vendor, clock, place } = queue;
  const { path, status, progress, isLostWithoutStatus = false } = vendor.poll;
  const id = getId(handle);
  const names = { id, model: call.upstreamModel };
  const answer = await ask(
    queue,
    {
      method: vendor.poll.ask === undefined ? "GET" : "POST",
      path: place(typeof path === "string" ? path : path(id), names),
      body: vendor.poll.ask?.(id),
    },
    call,
  );
  if (answer.status === 404) return { kind: "lost" };
  const word = typeof status === "string" ? pickWord(answer.body, status) : status(answer.body);
  const phase = answer.status >= 300 ? null : readPhase(vendor, word);
  // The end of a job may come with an error code; any other error says nothing about the job.
  if (phase !== "failed" && isRefusal(vendor, answer)) throw refuse(queue, answer, call);
  if (phase === null && isLostWithoutStatus) return { kind: "lost" };
  if (phase === null) throw createBadAnswer("The response has no status.", answer);
  switch (phase) {
    case "queued":
      return { kind: "running", isStarted: false, progress: null };
    case "running":
      return { kind: "running", isStarted: true, progress: readProgress(answer.body, progress) };
    case "done":
      return presentOutputs(queue, answer, call);
    case "failed":
      return { kind: "failed", error: readFailure(vendor, answer.body, clock.now()) };
    case "canceled":
      return { kind: "canceled", outputs: [] };
    case "lost":
      return { kind: "lost" };
  }
}

/** `null` without a word. */
function readPhase({ poll: { words } }: QueueVendor, word: string | null): QueuePhase | null {
  if (word === null) return null;
  return (Object.hasOwn(words, word) ? words[word] : undefined) ?? "running";
}

/** Statuses of a cancel that say something about us, not about the job. */
const ownFaults: readonly number[] = [401, 429];

async function cancel(queue: Queue, handle: Handle, call: GenerationCall): Promise<CancelOutcome> {
  const { vendor, place } = queue;
  if (vendor.cancel === undefined) return "unsupported";
  const { method, path } = vendor.cancel;
  const names = { id: getId(handle), model: call.upstreamModel };
  const answer = await ask(queue, { method, path: place(path, names) }, call);
  // Unknown, or too late: the next poll finds out.
  if (answer.status >= 400 && answer.status < 500 && !ownFaults.includes(answer.status)) return "requested";
  if (isRefusal(vendor, answer)) throw refuse(queue, answer, call);
  return await confirmCancel(() => poll(queue, handle, call));
}

/** The cause of a job that failed after it was accepted. */
function readFailure({ failure, kinds = [] }: QueueVendor, body: unknown, now: Date): ProviderError {
  const code = failure.code === undefined ? null : pickWord(body, failure.code);
  const message = pickWord(body, failure.message);
  const said = { status: 200, headers: {}, body: { error: { code, message } } };
  const error = judgeError(readVendorRefusal(said, { now, findParam: () => null }), kinds);
  // A fault of our account would have refused the submission: as an end of the job it is the vendor's own.
  return failureTable[error.kind].fault === "account" ? changeKind(error, "overloaded") : error;
}

function readProgress(body: unknown, progress: QueueVendor["poll"]["progress"]): number | null {
  if (progress === undefined) return null;
  const [share] = pickAll(body, progress.at);
  if (typeof share !== "number" || !(share >= 0)) return null;
  return Math.min(100, Math.round((share / progress.max) * 100));
}

/** It becomes part of a path, which it must not change. */
function isId(id: string): boolean {
  return idPattern.test(id) && !dotSegment.test(id);
}

function getId({ id }: Handle): string {
  if (typeof id !== "string") throw new ProviderError("bad-answer", "The task's handle is not one of this upstream.");
  return id;
}

function encodePath(text: string): string {
  return text.split("/").map(encodeURIComponent).join("/");
}
