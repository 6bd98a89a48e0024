import type { ExchangeAnswer } from "../../platform/net/guarded-client.ts";
import { readWhole } from "../../platform/net/guarded-client.ts";
import { ProviderError } from "../contract.ts";
import { readRefusal } from "../media-client.ts";
import type { Transcript, TranscriptionCall, TranscriptionProvider, TranscriptionRequest } from "../transcription.ts";
import { listStructureMax, parseJson } from "./json-value.ts";
import { createOpenAiEndpoint, type OpenAiEndpoint, type OpenAiMediaOptions, presentTrace } from "./openai-endpoint.ts";
import { readMediaError } from "./read-media-error.ts";
import { readTranscript } from "./read-transcript.ts";
import { readTranscriptEvents } from "./read-transcript-events.ts";
import { type Multipart, writeMultipart } from "./write-multipart.ts";

/** Hours of speech, word by word. */
const transcriptBytesMax = 16 * 1024 * 1024;

const paths = { transcribe: "audio/transcriptions", translate: "audio/translations" } as const satisfies Record<
  TranscriptionRequest["task"],
  string
>;

/** The form field of each request option; `null` and empty options are not sent. */
const fieldsOfRequest = {
  language: "language",
  prompt: "prompt",
  temperature: "temperature",
  timestamps: "timestamp_granularities",
  chunking: "chunking_strategy",
} as const satisfies Partial<Record<keyof TranscriptionRequest, string>>;

/**
 * Transcripts through OpenAI's API. Compatible servers mostly support only `json` and `verbose_json`, so we request
 * these and write every other format ourselves.
 */
export function createOpenAiTranscription(options: OpenAiMediaOptions): TranscriptionProvider {
  const { unsupportedFields = [] } = options;
  const endpoint = createOpenAiEndpoint(options);
  return {
    findObstacle(request) {
      for (const [name, field] of Object.entries(fieldsOfRequest)) {
        const value = request[name as keyof typeof fieldsOfRequest];
        const isAsked = Array.isArray(value) ? value.includes("word") : value !== null;
        if (isAsked && unsupportedFields.includes(field)) {
          return { param: field, message: `This model does not support ${field}.` };
        }
      }
      return null;
    },
    async transcribe(call) {
      const isStreamed = call.onPieces !== null && !unsupportedFields.includes("stream");
      const { contentType, length, body } = writeForm(call, { isStreamed, unsupportedFields });
      const { apiKey, timeoutMs, signal, onHead } = call;
      const answer = await endpoint.client.send({
        method: "POST",
        path: endpoint.pathOf(paths[call.request.task], call.upstreamModel),
        headers: { "content-type": contentType, "content-length": String(length), ...presentTrace(call) },
        ...{ body, apiKey, timeoutMs, signal },
        ...(onHead === undefined ? {} : { onHead }),
      });
      return await readAnswer(endpoint, answer, call);
    },
    close: () => endpoint.client.close(),
  };
}

function writeForm(
  { request, recording, upstreamModel }: TranscriptionCall,
  { isStreamed, unsupportedFields }: { isStreamed: boolean; unsupportedFields: readonly string[] },
): Multipart {
  const { language, prompt, temperature, timestamps, chunking } = request;
  const format = request.isDiarized ? "diarized_json" : timestamps.length > 0 ? "verbose_json" : "json";
  const hasGranularities = timestamps.length > 0 && !unsupportedFields.includes("timestamp_granularities");
  const fields = {
    model: upstreamModel,
    response_format: format,
    ...(language === null ? {} : { language }),
    ...(prompt === null ? {} : { prompt }),
    ...(temperature === null ? {} : { temperature: String(temperature) }),
    // Translations have no such field, and always have segments.
    ...(hasGranularities && request.task === "transcribe" ? { "timestamp_granularities[]": timestamps } : {}),
    ...(request.hasLogprobs ? { "include[]": ["logprobs"] } : {}),
    ...(chunking === null ? {} : { chunking_strategy: chunking === "auto" ? chunking : JSON.stringify(chunking) }),
    ...(isStreamed ? { stream: "true" } : {}),
  };
  const { contentType, bytes, open } = recording;
  const filename = `audio.${nameExtension(contentType)}`;
  return writeMultipart(fields, [{ name: "file", filename, contentType, bytes, open }]);
}

/** Vendors detect a file's type by its name. */
const extensions: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "video/quicktime": "mov",
};

function nameExtension(contentType: string): string {
  return extensions[contentType] ?? contentType.split("/")[1] ?? "mp3";
}

async function readAnswer(
  { clock }: OpenAiEndpoint,
  answer: ExchangeAnswer,
  { onAccepted, onPieces, signal }: TranscriptionCall,
): Promise<Transcript> {
  const { status, headers } = answer;
  if (status >= 300) throw readMediaError({ status, headers, body: await readRefusal(answer, signal) }, { clock });
  onAccepted();
  // An upstream without streaming responds as if it was not requested.
  if (onPieces !== null && String(headers["content-type"] ?? "").startsWith("text/event-stream")) {
    return await readTranscriptEvents(answer.read({ bytesMax: transcriptBytesMax }), { onPieces, clock });
  }
  const body = parseJson(String(await readWhole(answer, { bytesMax: transcriptBytesMax })), listStructureMax);
  const transcript = readTranscript(body);
  if (transcript === null) throw new ProviderError("bad-answer", "The response has no text.", { detail: { status } });
  return transcript;
}
