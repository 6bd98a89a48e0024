import { canary } from "./canary.ts";
import type { MadeFiles } from "./made-files.ts";
import type { MediaBehaviour } from "./media-behaviour.ts";
import {
  type MediaCall,
  type MediaReply,
  type MediaSubmission,
  type Sender,
  sendReply,
  writeJson,
} from "./media-call.ts";
import { makePicture, voice } from "./media-samples.ts";
import { checkTranscriptionAsk, presentTranscript } from "./openai-transcript.ts";
import { demand, demandKnownFields, demandRange, demandRecord, demandText, VendorRefusal } from "./vendor-refusal.ts";
import { answeredAt } from "./vendor-wire.ts";

export type OpenAiMediaFake = { takes(path: string): boolean; answer(sender: Sender, path: string): Promise<void> };

type OpenAiMediaParts = { files: MadeFiles; take(submission: MediaSubmission): MediaBehaviour };

const operations = {
  "/openai/v1/images/generations": "generations",
  "/openai/v1/images/edits": "edits",
  "/openai/v1/audio/speech": "speech",
  "/openai/v1/audio/transcriptions": "transcription",
  "/openai/v1/audio/translations": "translation",
} as const;
type Operation = (typeof operations)[keyof typeof operations];

const imageFields =
  "model prompt n size quality style background moderation input_fidelity output_format output_compression user".split(
    " ",
  );
const speechFields = "model input voice response_format speed instructions stream_format".split(" ");

const vendors = {
  generations: "openai-images",
  edits: "openai-images",
  speech: "openai-speech",
  transcription: "openai-transcription",
  translation: "openai-transcription",
} as const satisfies Record<Operation, MediaSubmission["vendor"]>;

/** OpenAI's images, speech and transcriptions, all synchronous. */
export function createOpenAiMediaFake({ files, take }: OpenAiMediaParts): OpenAiMediaFake {
  return {
    takes: (path) => Object.hasOwn(operations, path),
    async answer(sender, path) {
      const operation = operations[path as keyof typeof operations];
      const submission = await readSubmission(sender.call, operation);
      try {
        const behaviour = take(submission);
        checkAsk(submission, operation);
        const reply =
          behaviour.status === undefined
            ? await present(submission, behaviour, files)
            : presentError(behaviour.status, behaviour.error);
        await sendReply(sender, reply, behaviour);
      } catch (error) {
        if (!(error instanceof VendorRefusal)) throw error;
        submission.refusal = error.message;
        const { status, message, param, code } = error;
        const said = { message, ...(param === null ? {} : { param }), ...(code === null ? {} : { code }) };
        await sendReply(sender, presentError(status, said), {});
      }
    },
  };
}

async function readSubmission(call: MediaCall, operation: Operation): Promise<MediaSubmission> {
  const isForm = operation !== "generations" && operation !== "speech";
  const { fields, files } = isForm ? await readForm(call) : { fields: readJson(call.body), files: [] };
  const prompt = String(fields[operation === "speech" ? "input" : "prompt"] ?? "");
  return {
    vendor: vendors[operation],
    model: String(fields.model ?? ""),
    ...{ prompt, fields, files, call },
    apiKey: call.headers.authorization?.match(/^Bearer (\S+)$/)?.[1] ?? null,
    refusal: null,
  };
}

function readJson(body: Buffer): Record<string, unknown> {
  try {
    return demandRecord(JSON.parse(body.toString("utf8")), "body");
  } catch {
    return {};
  }
}

async function readForm({ body, headers }: MediaCall): Promise<Pick<MediaSubmission, "fields" | "files">> {
  const type = headers["content-type"] ?? "";
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown> = {};
  const files: MediaSubmission["files"][number][] = [];
  for (const [name, value] of form) {
    if (typeof value === "string" && name.endsWith("[]")) fields[name] = [fields[name] ?? [], value].flat();
    else if (typeof value === "string") fields[name] = name === "n" ? Number(value) : value;
    else {
      const bytes = Buffer.from(await value.arrayBuffer());
      files.push({ name, filename: value.name, contentType: value.type, bytes });
    }
  }
  return { fields, files };
}

function checkAsk({ apiKey, fields, files }: MediaSubmission, operation: Operation): void {
  if (apiKey === null) throw new VendorRefusal("Incorrect API key provided.", { status: 401, code: "invalid_api_key" });
  demandText(fields.model, "model");
  if (operation === "transcription" || operation === "translation") {
    checkTranscriptionAsk(fields, files, operation);
    return;
  }
  if (operation === "speech") {
    demandKnownFields(fields, speechFields);
    demandText(fields.input, "input");
    demandText(fields.voice, "voice");
    const format = fields.response_format ?? "mp3";
    demand(["mp3", "opus", "aac", "flac", "wav", "pcm"].includes(String(format)), "response_format", "Invalid format");
    demandRange(fields.speed, "speed", [0.25, 4]);
    return;
  }
  demandKnownFields(fields, imageFields);
  demandText(fields.prompt, "prompt");
  demandRange(fields.n, "n", [1, 10]);
  demand(/^(auto|\d+x\d+)$/.test(String(fields.size ?? "auto")), "size", "Invalid value for 'size'.");
  if (operation === "generations") return;
  demand(files.length > 0 && files.length <= 16, "image", "Expected 1 to 16 images.");
  const isNamed = files.every(({ name }) => name === "image[]") || (files.length === 1 && files[0]?.name === "image");
  demand(isNamed, "image", "Duplicate parameter: 'image'. Use 'image[]' for several.");
  const types = ["image/png", "image/webp", "image/jpeg"];
  demand(
    files.every(({ contentType }) => types.includes(contentType)),
    "image",
    "Unsupported mimetype.",
  );
}

async function present(
  { vendor, fields }: MediaSubmission,
  behaviour: MediaBehaviour,
  files: MadeFiles,
): Promise<MediaReply> {
  if (vendor === "openai-transcription") return presentTranscript(fields);
  if (vendor === "openai-speech") {
    return { status: 200, headers: { "content-type": voice.contentType }, body: voice.bytes };
  }
  const [, width = "64", height = "64"] = /^(\d+)x(\d+)$/.exec(String(fields.size)) ?? [];
  const size = { width: Number(width), height: Number(height) };
  const count = Number(fields.n ?? 1) + (behaviour.extraCount ?? 0);
  const pictures = await Promise.all(Array.from({ length: count }, (_, index) => makePicture(size, index)));
  const data = pictures.map((picture) =>
    behaviour.form === "url"
      ? { url: files.add(picture, behaviour), revised_prompt: `Revised: ${String(fields.prompt)}` }
      : { b64_json: picture.bytes.toString("base64"), revised_prompt: `Revised: ${String(fields.prompt)}` },
  );
  const usage = { input_tokens: 12, output_tokens: 272, total_tokens: 284 };
  return writeJson(200, { created: answeredAt.getTime() / 1000, background: "opaque", data, usage, model: canary });
}

function presentError(status: number, error: MediaBehaviour["error"] = {}): MediaReply {
  const { code = `${canary}_${status}`, message = "something is wrong", param = null } = error;
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return writeJson(status, { error: { message: `${canary}: ${message}`, type, param, code } });
}
