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
  MadeOutput,
  PollOutcome,
  SubmitOutcome,
} from "../generation.ts";
import { addressInputs, openBase64 } from "../inline-media.ts";
import {
  createMediaClient,
  type MediaClient,
  type MediaClientOptions,
  readAnswer,
  type WholeAnswer,
} from "../media-client.ts";
import { asRecord } from "../openai-compatible/json-value.ts";
import { pickAll, pickWord } from "../pick.ts";
import { changeKind, isRefusal, judgeError, readReplyError } from "../read-vendor-reply.ts";
import type { FieldRules } from "../route-terms.ts";
import {
  findFieldObstacle,
  findParam,
  findRequestObstacle,
  listValues,
  placeField,
  writeFields,
} from "../write-media-fields.ts";
import type { QueuePhase, QueueProduct, QueueVendor } from "./queue-vendor.ts";

export type QueueOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** Instead of the vendor's own. */
  baseUrl?: string | undefined;
  clock: Clock;
};

const replyBytesMax = 4 * 1024 * 1024;
/** Of replies that contain the outputs. */
const filesBytesMax = 96 * 1024 * 1024;
const inlineBytesMax = 20 * 1024 * 1024;
/** Status requests are answered immediately, or not at all, unless the reply contains the outputs. */
const questionMsMax = 30_000;
const pollMsMax = 15_000;
const idPattern = /^[\w./:=-]{1,400}$/;
const dotSegment = /(?:^|\/)\.{1,2}(?:\/|$)/;

/** A vendor with the connection to it. */
type Queue = {
  vendor: QueueVendor;
  client: MediaClient;
  rulesByType: Partial<Record<GenerationCall["request"]["type"], FieldRules>>;
  clock: Clock;
  /** A path of the vendor's, with names in the place of braces. */
  place(path: string, names: Readonly<Record<string, string>>): string;
};

/** A provider from a vendor's table. */
export function createQueueGeneration(vendor: QueueVendor, options: QueueOptions): GenerationProvider {
  const baseUrl = readBaseUrl(options.baseUrl ?? vendor.baseUrl);
  const queue: Queue = {
    ...{ vendor, clock: options.clock },
    client: createMediaClient({ ...options, origin: baseUrl.origin, authHeader: vendor.auth }),
    rulesByType: Object.fromEntries(Object.entries(vendor.makes).map(([type, { fields }]) => [type, fields])),
    place: (path, names) =>
      baseUrl.pathOf(path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodePath(names[name] ?? ""))),
  };
  return {
    traits: {
      ...{ isRepeatable: false, keepsWork: true, cancels: vendor.cancel?.works ?? "never" },
      ...{ pollMsMin: vendor.pollMsMin, pollMsMax: Math.max(pollMsMax, vendor.pollMsMin) },
    },
    ...(vendor.hook === undefined ? {} : { hook: vendor.hook }),
    findObstacle: (request, search) => findRequestObstacle(request, search, queue.rulesByType),
    submit: (call) => submit(queue, call),
    poll: (handle, call) => poll(queue, handle, call),
    cancel: (handle, call) => cancel(queue, handle, call),
    close: () => queue.client.close(),
  };
}

async function submit(queue: Queue, call: GenerationCall): Promise<SubmitOutcome> {
  const { vendor, client, place } = queue;
  const { apiKey, timeoutMs, signal, upstreamModel, request } = call;
  const product = vendor.makes[request.type];
  if (product === undefined) throw new ProviderError("rejected", `This upstream makes no ${request.type}.`);
  const fields = await writeProduct(product, call);
  const written = { ...(product.arrange?.(fields) ?? fields) };
  if (product.isImmediate !== true) writeHook(written, vendor.hook, call);
  const body = JSON.stringify(
    product.modelField === undefined ? written : { [product.modelField]: upstreamModel, ...written },
  );
  const path = place(typeof product.path === "string" ? product.path : product.path(fields), { model: upstreamModel });
  const headers = { "content-type": "application/json", accept: "application/json", ...vendor.headers };
  const once = await client.sendOnce({ method: "POST", path, headers, body, apiKey, timeoutMs, signal }, (answer) =>
    readAnswer(answer, { bytesMax: product.isEncoded === true ? filesBytesMax : replyBytesMax, signal }),
  );
  if (once.kind === "ambiguous") return once;
  const { answer } = once;
  if (isRefusal(vendor, answer)) {
    const error = refuse(queue, answer, call);
    // A proxy's error leaves it open whether the vendor got the request, except 503, which is sent before forwarding.
    if (answer.status < 500 || answer.status === 503) throw error;
    return { kind: "ambiguous", error };
  }
  if (product.isImmediate === true) return presentAtOnce(queue, answer, call);
  const id = pickWord(answer.body, vendor.id);
  if (id !== null && isId(id)) return { kind: "accepted", handle: { id } };
  return { kind: "ambiguous", error: createBadAnswer("The response has no id.", answer) };
}

function writeHook(
  body: Record<string, unknown>,
  hook: QueueVendor["hook"],
  { callback = null }: GenerationCall,
): void {
  if (hook === undefined || callback === null) return;
  placeField(body, hook.field, callback.url);
  if (hook.secretField !== undefined) placeField(body, hook.secretField, callback.secret);
  Object.assign(body, hook.more);
}

/** A complete reply without outputs is certain too: none will come. */
function presentAtOnce(queue: Queue, answer: WholeAnswer, call: GenerationCall): SubmitOutcome {
  // Cut or replaced: the vendor may have made and billed the outputs.
  if (asRecord(answer.body) === null) {
    return { kind: "ambiguous", error: createBadAnswer("The reply is no JSON object.", answer) };
  }
  const outcome = presentOutputs(queue, answer, call);
  if (outcome.kind === "failed") throw outcome.error;
  return outcome;
}

function refuse(
  { vendor, clock, rulesByType }: Queue,
  answer: WholeAnswer,
  { request, route }: GenerationCall,
): ProviderError {
  return readReplyError(vendor, answer, {
    now: clock.now(),
    findParam: (field) => findParam(field, rulesByType[request.type] ?? {}, route),
  });
}

type Question = { method: "GET" | "POST" | "DELETE"; path: string; body?: object | undefined };

async function ask(
  { vendor, client }: Queue,
  { method, path, body }: Question,
  call: GenerationCall,
): Promise<WholeAnswer> {
  const { apiKey, signal } = call;
  const hasFiles = vendor.makes[call.request.type]?.isEncoded === true;
  return await client.ask({
    ...{ method, path, apiKey, signal },
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...vendor.headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    timeoutMs: hasFiles ? call.timeoutMs : Math.min(call.timeoutMs, questionMsMax),
    bytesMax: hasFiles ? filesBytesMax : replyBytesMax,
  });
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

function presentOutputs(
  queue: Queue,
  answer: WholeAnswer,
  call: GenerationCall,
): Extract<PollOutcome, { kind: "done" | "failed" }> {
  const { request } = call;
  const product = queue.vendor.makes[request.type];
  const places = product?.outputs ?? [];
  const urls = places.map((at) => pickAll(answer.body, at).filter(isText)).find(({ length }) => length > 0) ?? [];
  if (product === undefined || urls.length === 0) {
    const error = isWithheld(product, answer.body)
      ? new ProviderError("content-refused", "The upstream withheld the output because of its content.")
      : createBadAnswer("The result has no outputs.", answer);
    return { kind: "failed", error };
  }
  const wanted = urls.slice(0, request.type === "image" ? request.count : 1);
  return { kind: "done", outputs: wanted.map((url) => openOutput(queue, { url, product, call })) };
}

function isWithheld(product: QueueProduct | undefined, body: unknown): boolean {
  const { at = [], words = /./ } = product?.withheld ?? {};
  return at.some((place) => pickAll(body, place).some((reason) => words.test(String(reason))));
}

function openOutput(
  queue: Queue,
  { url, product: { files, isEncoded }, call }: { url: string; product: QueueProduct; call: GenerationCall },
): MadeOutput {
  const { request, apiKey } = call;
  return {
    type: request.type === "image" ? "image" : request.type === "speech" ? "audio" : "video",
    async open(signal) {
      if (isEncoded === true) return openBase64(url);
      const address = files === undefined ? url : await findUrl(queue, files, { id: url, call: { ...call, signal } });
      return await queue.client.download(address, { signal, apiKey });
    },
  };
}

/** For vendors that name files: their addresses live for minutes, so each is asked for when it is read. */
async function findUrl(
  queue: Queue,
  { path, url }: NonNullable<QueueProduct["files"]>,
  { id, call }: { id: string; call: GenerationCall },
): Promise<string> {
  const answer = await ask(queue, { method: "GET", path: queue.place(path, { id }) }, call);
  if (isRefusal(queue.vendor, answer)) throw refuse(queue, answer, call);
  const found = pickWord(answer.body, url);
  if (found === null) throw createBadAnswer("The file has no address.", answer);
  return found;
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

/** The fields of a request, in the vendor's names. Throws if the vendor cannot do what it asks for. */
async function writeProduct(
  { fields: rules, inline = "data-uri", urlOnly = [] }: QueueProduct,
  { request, inputs, route }: GenerationCall,
): Promise<Record<string, unknown>> {
  const addresses = await addressInputs(inputs, { bytesMax: inlineBytesMax, takesUrls: inline !== "always" });
  const placed = inputs.map(({ role, contentType }, index) => {
    const address = addresses[index] ?? "";
    return { role, contentType, address: inline === "base64" ? address.replace(/^data:[^,]*,/, "") : address };
  });
  if (placed.some(({ role, address }) => urlOnly.includes(role) && !address.startsWith("https:"))) {
    // Requests without inputs still work, so the circuit stays closed.
    throw new ProviderError("misconfigured", "This upstream fetches inputs itself. Set site_url to a public address.", {
      isIsolated: true,
    });
  }
  const values = listValues(request, placed);
  const obstacle = findFieldObstacle(values, rules, route);
  if (obstacle !== null) throw new ProviderError("rejected", obstacle.message, { param: obstacle.param });
  return writeFields(values, rules, route);
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

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function encodePath(text: string): string {
  return text.split("/").map(encodeURIComponent).join("/");
}

function createBadAnswer(message: string, { status }: WholeAnswer): ProviderError {
  return new ProviderError("bad-answer", message, { detail: { status } });
}
