import type { Clock } from "../../lib/clock.ts";
import { readBaseUrl } from "../base-url.ts";
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
import { addressInputs } from "../inline-media.ts";
import {
  createMediaClient,
  type MediaClient,
  type MediaClientOptions,
  readAnswer,
  type WholeAnswer,
} from "../media-client.ts";
import { pickAll, pickWord } from "../pick.ts";
import { changeKind, isRefusal, judgeError, readReplyError } from "../read-vendor-reply.ts";
import type { FieldRules } from "../route-terms.ts";
import { findFieldObstacle, findParam, findRequestObstacle, listValues, writeFields } from "../write-media-fields.ts";
import type { QueueProduct, QueueVendor } from "./queue-vendor.ts";

export type QueueOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** Instead of the vendor's own. */
  baseUrl?: string | undefined;
  clock: Clock;
};

const replyBytesMax = 4 * 1024 * 1024;
const inlineBytesMax = 20 * 1024 * 1024;
/** Status requests are answered immediately, or not at all. */
const questionMsMax = 30_000;
const pollMsMax = 15_000;
const idPattern = /^[\w./:=-]{1,400}$/;

/** A provider from a vendor's table. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one client; each function is one request to the vendor.
export function createQueueGeneration(vendor: QueueVendor, options: QueueOptions): GenerationProvider {
  const baseUrl = readBaseUrl(options.baseUrl ?? vendor.baseUrl);
  const client = createMediaClient({ ...options, origin: baseUrl.origin, authHeader: vendor.auth });
  const rulesByType = Object.fromEntries(
    Object.entries(vendor.makes).map(([type, { fields }]) => [type, fields]),
  ) as Partial<Record<GenerationCall["request"]["type"], FieldRules>>;

  const place = (path: string, names: Readonly<Record<string, string>>): string =>
    baseUrl.pathOf(path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodePath(names[name] ?? "")));

  const refuse = (answer: WholeAnswer, { request, route }: GenerationCall): ProviderError =>
    readReplyError(vendor, answer, {
      now: options.clock.now(),
      findParam: (field) => findParam(field, rulesByType[request.type] ?? {}, route),
    });

  async function submit(call: GenerationCall): Promise<SubmitOutcome> {
    const { apiKey, timeoutMs, signal, upstreamModel, request } = call;
    const product = vendor.makes[request.type];
    if (product === undefined) throw new ProviderError("rejected", `This upstream makes no ${request.type}.`);
    const fields = await writeProduct(product, call);
    const written = product.arrange?.(fields) ?? fields;
    const body = JSON.stringify(
      product.modelField === undefined ? written : { [product.modelField]: upstreamModel, ...written },
    );
    const path = place(typeof product.path === "string" ? product.path : product.path(fields), {
      model: upstreamModel,
    });
    const headers = { "content-type": "application/json", accept: "application/json", ...vendor.headers };
    const once = await client.sendOnce({ method: "POST", path, headers, body, apiKey, timeoutMs, signal }, (answer) =>
      readAnswer(answer, { bytesMax: replyBytesMax, signal }),
    );
    if (once.kind === "ambiguous") return once;
    const { answer } = once;
    if (isRefusal(vendor, answer)) {
      const error = refuse(answer, call);
      // A proxy's error leaves it open whether the vendor got the request, except 503, which is sent before forwarding.
      if (answer.status < 500 || answer.status === 503) throw error;
      return { kind: "ambiguous", error };
    }
    const id = pickWord(answer.body, vendor.id);
    if (id !== null && idPattern.test(id)) return { kind: "accepted", handle: { id } };
    return { kind: "ambiguous", error: createBadAnswer("The response has no id.", answer) };
  }

  async function ask(method: "GET" | "POST" | "DELETE", path: string, call: GenerationCall): Promise<WholeAnswer> {
    const { apiKey, signal } = call;
    const timeoutMs = Math.min(call.timeoutMs, questionMsMax);
    const headers = { accept: "application/json", ...vendor.headers };
    return await client.ask({ method, path, headers, body: null, apiKey, timeoutMs, signal, bytesMax: replyBytesMax });
  }

  async function poll(handle: Handle, call: GenerationCall): Promise<PollOutcome> {
    const { path, status, words, progress, isLostWithoutStatus = false } = vendor.poll;
    const answer = await ask("GET", place(path, { id: getId(handle), model: call.upstreamModel }), call);
    if (answer.status === 404) return { kind: "lost" };
    const word = answer.status >= 300 ? null : pickWord(answer.body, status);
    const phase = word === null ? null : (words[word] ?? "running");
    // The end of a job may come with an error code; any other error says nothing about the job.
    if (phase !== "failed" && isRefusal(vendor, answer)) throw refuse(answer, call);
    if (phase === null && isLostWithoutStatus) return { kind: "lost" };
    if (phase === null) throw createBadAnswer("The response has no status.", answer);
    switch (phase) {
      case "queued":
        return { kind: "running", isStarted: false, progress: null };
      case "running":
        return { kind: "running", isStarted: true, progress: readProgress(answer.body, progress) };
      case "done":
        return presentOutputs(answer, call);
      case "failed":
        return { kind: "failed", error: readFailure(vendor, answer.body, options.clock.now()) };
      case "canceled":
        return { kind: "canceled", outputs: [] };
      case "lost":
        return { kind: "lost" };
    }
  }

  function presentOutputs(answer: WholeAnswer, call: GenerationCall): PollOutcome {
    const { request } = call;
    const product = vendor.makes[request.type];
    const places = product?.outputs ?? [];
    const urls = places.map((at) => pickAll(answer.body, at).filter(isText)).find(({ length }) => length > 0) ?? [];
    if (product === undefined || urls.length === 0) {
      return { kind: "failed", error: createBadAnswer("The result has no outputs.", answer) };
    }
    const wanted = urls.slice(0, request.type === "image" ? request.count : 1);
    return { kind: "done", outputs: wanted.map((url) => openOutput(client, { url, product, call, findUrl })) };
  }

  /** For vendors that name files: their addresses live for minutes, so each is asked for when it is read. */
  async function findUrl({ path, url }: NonNullable<QueueProduct["files"]>, id: string, call: GenerationCall) {
    const answer = await ask("GET", place(path, { id }), call);
    if (isRefusal(vendor, answer)) throw refuse(answer, call);
    const found = pickWord(answer.body, url);
    if (found === null) throw createBadAnswer("The file has no address.", answer);
    return found;
  }

  async function cancel(handle: Handle, call: GenerationCall): Promise<CancelOutcome> {
    if (vendor.cancel === undefined) return "unsupported";
    const { method, path } = vendor.cancel;
    const answer = await ask(method, place(path, { id: getId(handle), model: call.upstreamModel }), call);
    // Unknown, or too late: the next poll finds out.
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 401 && answer.status !== 429)
      return "requested";
    if (isRefusal(vendor, answer)) throw refuse(answer, call);
    return (await isGone(handle, call)) ? "canceled" : "requested";
  }

  /** If this check fails, the outcome stays open: the cancel was received, and the next poll finds out. */
  async function isGone(handle: Handle, call: GenerationCall): Promise<boolean> {
    try {
      const { kind } = await poll(handle, call);
      return kind === "lost" || kind === "canceled";
    } catch (error) {
      if (error instanceof ProviderError) return false;
      throw error;
    }
  }

  return {
    traits: {
      ...{ isRepeatable: false, keepsWork: true, cancels: vendor.cancel?.works ?? "never" },
      ...{ pollMsMin: vendor.pollMsMin, pollMsMax: Math.max(pollMsMax, vendor.pollMsMin) },
    },
    findObstacle: (request, search) => findRequestObstacle(request, search, rulesByType),
    submit,
    poll,
    cancel,
    close: () => client.close(),
  };
}

/** The fields of a request, in the vendor's names. Throws if the vendor cannot do what it asks for. */
async function writeProduct(
  { fields: rules, inline = "data-uri" }: QueueProduct,
  { request, inputs, route }: GenerationCall,
): Promise<Record<string, unknown>> {
  const addresses = await addressInputs(inputs, { bytesMax: inlineBytesMax });
  const placed = inputs.map(({ role, contentType }, index) => {
    const address = addresses[index] ?? "";
    return { role, contentType, address: inline === "base64" ? address.replace(/^data:[^,]*,/, "") : address };
  });
  const values = listValues(request, placed);
  const obstacle = findFieldObstacle(values, rules, route);
  if (obstacle !== null) throw new ProviderError("rejected", obstacle.message, { param: obstacle.param });
  return writeFields(values, rules, route);
}

function openOutput(
  client: MediaClient,
  {
    url,
    product,
    call,
    findUrl,
  }: {
    url: string;
    product: QueueProduct;
    call: GenerationCall;
    findUrl(files: NonNullable<QueueProduct["files"]>, id: string, call: GenerationCall): Promise<string>;
  },
): MadeOutput {
  const { request, apiKey } = call;
  const type = request.type === "image" ? "image" : request.type === "speech" ? "audio" : "video";
  const { files } = product;
  return {
    type,
    open: async (signal) =>
      await client.download(files === undefined ? url : await findUrl(files, url, { ...call, signal }), {
        signal,
        apiKey,
      }),
  };
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
