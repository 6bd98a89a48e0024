import { setImmediate as nextTurn } from "node:timers/promises";
import type { ExchangeAnswer } from "../../platform/net/guarded-client.ts";
import { ProviderError } from "../contract.ts";
import type { GenerationCall, ImageRequest, MadeOutput, SubmitOutcome } from "../generation.ts";
import { openBase64 } from "../inline-media.ts";
import { readRefusal, type WholeAnswer } from "../media-client.ts";
import type { FieldRules } from "../route-terms.ts";
import { listValues, writeFields } from "../write-media-fields.ts";
import { asRecord, parseJson } from "./json-value.ts";
import { type OpenAiEndpoint, presentTrace } from "./openai-endpoint.ts";
import { readMediaError, throwUnlessInProgress } from "./read-media-error.ts";
import { createListSplitter } from "./split-list.ts";
import { writeMultipart } from "./write-multipart.ts";

/** A large image in base64. */
const imageBytesMax = 32 * 1024 * 1024;
const answerBytesMax = 256 * 1024 * 1024;

type ImageCall = GenerationCall & { request: ImageRequest; headers: Readonly<Record<string, string>> };

/** Requests images and waits for them. There is no job to poll: a result that does not come with the response is lost. */
export async function submitImage(endpoint: OpenAiEndpoint, call: ImageCall): Promise<SubmitOutcome> {
  const { apiKey, timeoutMs, signal, request } = call;
  const bytesMax = Math.min(imageBytesMax * (request.count + 1), answerBytesMax);
  const asked = call.inputs.length === 0 ? writeGeneration(call, request) : writeEdit(call, request);
  const path = endpoint.pathOf(asked.operation, call.upstreamModel);
  const headers = { accept: "application/json", ...asked.headers, ...call.headers, ...presentTrace(call) };
  const once = await endpoint.client.sendOnce(
    { method: "POST", path, headers, body: asked.body, apiKey, timeoutMs, signal },
    (answer) => readImageAnswer(answer, { bytesMax, signal }),
  );
  if (once.kind === "ambiguous") return once;
  const { answer } = once;
  if (answer.status >= 300 || asRecord(answer.body)?.error !== undefined) {
    return throwUnlessInProgress(readMediaError(answer, endpoint), call);
  }
  return readImages(answer, { endpoint, apiKey, count: request.count });
}

/** Reads image by image: parsing a whole response at once would block the event loop for most of a second. */
async function readImageAnswer(
  answer: ExchangeAnswer,
  { bytesMax, signal }: { bytesMax: number; signal: AbortSignal },
): Promise<WholeAnswer> {
  const { status, headers } = answer;
  if (status >= 300) return { status, headers, body: await readRefusal(answer, signal) };
  const splitter = createListSplitter({ itemBytesMax: imageBytesMax });
  const data: unknown[] = [];
  for await (const chunk of answer.read({ bytesMax })) {
    for (const item of splitter.add(chunk)) {
      data.push(parseJson(item.toString("utf8")));
      await nextTurn();
    }
  }
  const envelope = asRecord(parseJson(splitter.envelope()));
  return { status, headers, body: Array.isArray(envelope?.data) ? { ...envelope, data } : envelope };
}

type Asked = { operation: string; headers: Record<string, string>; body: string | AsyncIterable<Uint8Array> };

/** OpenAI's fields have our names. Images are files of a form. */
export const imageRules: FieldRules = {
  prompt: "prompt",
  n: "n",
  size: "size",
  input_images: {},
  quality: "quality",
  style: "style",
  background: "background",
  moderation: "moderation",
  input_fidelity: "input_fidelity",
};

function writeGeneration({ upstreamModel, route }: GenerationCall, request: ImageRequest): Asked {
  const body = JSON.stringify({ model: upstreamModel, ...writeFields(listValues(request, []), imageRules, route) });
  return { operation: "images/generations", headers: { "content-type": "application/json" }, body };
}

function writeEdit({ upstreamModel, inputs, route }: GenerationCall, request: ImageRequest): Asked {
  const name = inputs.length === 1 ? "image" : "image[]";
  const files = inputs.map(({ contentType, bytes, open }, index) => {
    const extension = contentType.split("/")[1] ?? "png";
    return { name, filename: `image-${index + 1}.${extension}`, contentType, bytes, open };
  });
  const written = { model: upstreamModel, ...writeFields(listValues(request, []), imageRules, route) };
  const fields = Object.fromEntries(Object.entries(written).map(([field, value]) => [field, presentFormValue(value)]));
  const { contentType, length, body } = writeMultipart(fields, files);
  const headers = { "content-type": contentType, "content-length": String(length) };
  return { operation: "images/edits", headers, body };
}

function presentFormValue(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function readImages(
  answer: WholeAnswer,
  { endpoint, apiKey, count }: { endpoint: OpenAiEndpoint; apiKey: string | null; count: number },
): SubmitOutcome {
  const data = asRecord(answer.body)?.data;
  if (!Array.isArray(data)) {
    // The image was made and charged but cannot be retrieved, so it is not requested again.
    const { status } = answer;
    const error = new ProviderError("bad-answer", "The response has no images.", { detail: { status } });
    return { kind: "ambiguous", error };
  }
  const outputs = data.slice(0, count).flatMap((item: unknown): MadeOutput[] => {
    const { b64_json: base64, url, revised_prompt: revised } = asRecord(item) ?? {};
    const common = { type: "image" as const, ...readRevisedPrompt(revised) };
    if (typeof base64 === "string") return [{ ...common, open: async () => openBase64(base64) }];
    if (typeof url !== "string") return [];
    return [{ ...common, open: (signal) => endpoint.client.download(url, { signal, apiKey }) }];
  });
  return { kind: "done", outputs };
}

const revisedCharactersMax = 32_000;

/** Without the characters that PostgreSQL cannot store. */
function readRevisedPrompt(text: unknown): Pick<MadeOutput, "revisedPrompt"> {
  const clean = typeof text === "string" ? text.slice(0, revisedCharactersMax).replaceAll("\0", "").toWellFormed() : "";
  return clean === "" ? {} : { revisedPrompt: clean };
}
