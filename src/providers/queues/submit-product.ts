import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";
import type { GenerationCall, MadeOutput, PollOutcome, SubmitOutcome } from "../generation.ts";
import { addressInputs, openBase64 } from "../inline-media.ts";
import { type MediaClient, readAnswer, type WholeAnswer } from "../media-client.ts";
import { asRecord } from "../openai-compatible/json-value.ts";
import { pickAll, pickWord } from "../pick.ts";
import { isRefusal, readReplyError } from "../read-vendor-reply.ts";
import { findFieldObstacle, findParam, listValues, placeField, writeFields } from "../write-media-fields.ts";
import { findProducts } from "./find-products.ts";
import type { MediaVendor, QueueProduct } from "./queue-vendor.ts";

const replyBytesMax = 4 * 1024 * 1024;
/** Of replies that contain the outputs. */
const filesBytesMax = 96 * 1024 * 1024;
const inlineBytesMax = 20 * 1024 * 1024;
/** Status requests are answered immediately, or not at all, unless the reply contains the outputs. */
const questionMsMax = 30_000;

/** A vendor with the connection to it. */
export type Maker = {
  vendor: MediaVendor;
  client: MediaClient;
  clock: Clock;
  /** A path of the vendor's, with names in the place of braces. */
  place(path: string, names: Readonly<Record<string, string>>): string;
};

/** Sends the request. `answered` is the acceptance of a job; a vendor without jobs replies with the outputs. */
export async function submitProduct(
  maker: Maker,
  call: GenerationCall,
): Promise<SubmitOutcome | { kind: "answered"; answer: WholeAnswer }> {
  const { vendor, client, place } = maker;
  const { apiKey, timeoutMs, signal, upstreamModel, request } = call;
  const product = findProduct(maker, call);
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
    const error = refuse(maker, answer, call);
    if (isCertain(vendor, answer)) throw error;
    return { kind: "ambiguous", error };
  }
  return product.isImmediate === true ? presentAtOnce(maker, answer, call) : { kind: "answered", answer };
}

function findProduct({ vendor }: Maker, { upstreamModel, request }: GenerationCall): QueueProduct | undefined {
  return findProducts(vendor, upstreamModel)[request.type];
}

/** A proxy's error leaves it open whether the vendor got the request, except 503, which is sent before forwarding. */
function isCertain({ ownErrorHeader }: MediaVendor, { status, headers }: WholeAnswer): boolean {
  return status < 500 || status === 503 || (ownErrorHeader !== undefined && headers[ownErrorHeader] !== undefined);
}

function writeHook(
  body: Record<string, unknown>,
  hook: MediaVendor["hook"],
  { callback = null }: GenerationCall,
): void {
  if (hook === undefined || callback === null) return;
  placeField(body, hook.field, callback.url);
  if (hook.secretField !== undefined) placeField(body, hook.secretField, callback.secret);
  Object.assign(body, hook.more);
}

/** A complete reply without outputs is certain too: none will come. */
function presentAtOnce(maker: Maker, answer: WholeAnswer, call: GenerationCall): SubmitOutcome {
  // Cut or replaced: the vendor may have made and billed the outputs.
  if (asRecord(answer.body) === null) {
    return { kind: "ambiguous", error: createBadAnswer("The reply is no JSON object.", answer) };
  }
  const outcome = presentOutputs(maker, answer, call);
  if (outcome.kind === "failed") throw outcome.error;
  return outcome;
}

export function refuse(maker: Maker, answer: WholeAnswer, call: GenerationCall): ProviderError {
  const rules = findProduct(maker, call)?.fields ?? {};
  return readReplyError(maker.vendor, answer, {
    now: maker.clock.now(),
    findParam: (field) => findParam(field, rules, call.route),
  });
}

type Question = { method: "GET" | "POST" | "DELETE"; path: string; body?: object | undefined };

export async function ask(maker: Maker, { method, path, body }: Question, call: GenerationCall): Promise<WholeAnswer> {
  const { vendor, client } = maker;
  const { apiKey, signal } = call;
  const hasFiles = findProduct(maker, call)?.isEncoded === true;
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

export function presentOutputs(
  maker: Maker,
  answer: WholeAnswer,
  call: GenerationCall,
): Extract<PollOutcome, { kind: "done" | "failed" }> {
  const { request } = call;
  const product = findProduct(maker, call);
  const places = product?.outputs ?? [];
  const urls = places.map((at) => pickAll(answer.body, at).filter(isText)).find(({ length }) => length > 0) ?? [];
  if (product === undefined || urls.length === 0) {
    const reason = findWithheld(product, answer.body);
    const error =
      reason === null
        ? createBadAnswer("The result has no outputs.", answer)
        : new ProviderError("content-refused", "The upstream withheld the output because of its content.", {
            detail: { status: answer.status, message: reason },
          });
    return { kind: "failed", error };
  }
  const wanted = urls.slice(0, request.type === "image" ? request.count : 1);
  return { kind: "done", outputs: wanted.map((url) => openOutput(maker, { url, product, call })) };
}

/** Why an output was withheld for its content; `null` if it was not. */
function findWithheld(product: QueueProduct | undefined, body: unknown): string | null {
  const { at = [], words = /./ } = product?.withheld ?? {};
  return (
    at
      .flatMap((place) => pickAll(body, place))
      .map(String)
      .find((reason) => words.test(reason)) ?? null
  );
}

function openOutput(
  maker: Maker,
  { url, product: { files, isEncoded }, call }: { url: string; product: QueueProduct; call: GenerationCall },
): MadeOutput {
  const { request, apiKey } = call;
  return {
    type: request.type === "image" ? "image" : request.type === "speech" ? "audio" : "video",
    async open(signal) {
      if (isEncoded === true) return openBase64(url);
      const address = files === undefined ? url : await findUrl(maker, files, { id: url, call: { ...call, signal } });
      return await maker.client.download(address, { signal, apiKey });
    },
  };
}

/** For vendors that name files: their addresses live for minutes, so each is asked for when it is read. */
async function findUrl(
  maker: Maker,
  { path, url }: NonNullable<QueueProduct["files"]>,
  { id, call }: { id: string; call: GenerationCall },
): Promise<string> {
  const answer = await ask(maker, { method: "GET", path: maker.place(path, { id }) }, call);
  if (isRefusal(maker.vendor, answer)) throw refuse(maker, answer, call);
  const found = pickWord(answer.body, url);
  if (found === null) throw createBadAnswer("The file has no address.", answer);
  return found;
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

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function createBadAnswer(message: string, { status }: WholeAnswer): ProviderError {
  return new ProviderError("bad-answer", message, { detail: { status } });
}
