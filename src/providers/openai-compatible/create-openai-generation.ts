import { Readable } from "node:stream";
import { readWhole } from "../../platform/net/guarded-client.ts";
import { ProviderError } from "../contract.ts";
import type {
  GenerationCall,
  GenerationProvider,
  GenerationRequest,
  SpeechRequest,
  SubmitOutcome,
} from "../generation.ts";
import type { FieldRules } from "../route-terms.ts";
import { findRequestObstacle } from "../write-media-fields.ts";
import { createSilence, readSpeechRefusal } from "./create-openai-speech.ts";
import { createOpenAiEndpoint, type OpenAiEndpoint, type OpenAiMediaOptions } from "./openai-endpoint.ts";
import { throwUnlessInProgress } from "./read-media-error.ts";
import { isAudio, speechRules, writeSpeechRequest } from "./request-speech.ts";
import { imageRules, submitImage } from "./submit-image.ts";

/** A task's audio is buffered until it is stored, so that a truncated file is never taken for a complete one. */
const taskAudioBytesMax = 64 * 1024 * 1024;

/** What it can make, and how. */
export const openAiFields: Partial<Record<GenerationRequest["type"], FieldRules>> = {
  image: imageRules,
  speech: speechRules,
};

/**
 * Images and speech through OpenAI's API. Results come with the response, so there is nothing to poll. A lost response
 * is requested again if the upstream is idempotent, and is lost otherwise.
 */
export function createOpenAiGeneration(options: OpenAiMediaOptions): GenerationProvider {
  const { idempotencyHeader = null } = options;
  const endpoint = createOpenAiEndpoint(options);
  const isRepeatable = idempotencyHeader !== null;
  return {
    traits: { isRepeatable, keepsWork: isRepeatable, cancels: "never", pollMsMin: 1000, pollMsMax: 10_000 },
    findObstacle: (request, search) => findRequestObstacle(request, search, openAiFields),
    async submit(call) {
      const { request, taskId } = call;
      const headers = idempotencyHeader === null ? {} : { [idempotencyHeader]: taskId };
      if (request.type === "image") return await submitImage(endpoint, { ...call, request, headers });
      if (request.type === "speech") return await submitSpeech(endpoint, { ...call, request, headers });
      throw new ProviderError("rejected", `This upstream makes no ${request.type}.`);
    },
    // This upstream has no jobs: a poll means that the result was lost.
    poll: async () => ({ kind: "lost" }),
    cancel: async () => "unsupported",
    close: () => endpoint.client.close(),
  };
}

async function submitSpeech(
  endpoint: OpenAiEndpoint,
  call: GenerationCall & { request: SpeechRequest; headers: Readonly<Record<string, string>> },
): Promise<SubmitOutcome> {
  const asked = writeSpeechRequest(endpoint, call);
  const request = { ...asked, headers: { ...asked.headers, ...call.headers } };
  const once = await endpoint.client.sendOnce(request, async (answer) => {
    if (answer.status >= 300 || !isAudio(answer.headers)) return await readSpeechRefusal(endpoint, answer, call);
    return await readWhole(answer, { bytesMax: taskAudioBytesMax });
  });
  if (once.kind === "ambiguous") return once;
  const { answer } = once;
  if (answer instanceof ProviderError) return throwUnlessInProgress(answer, call);
  if (answer.length === 0) return { kind: "ambiguous", error: createSilence() };
  return {
    kind: "done",
    outputs: [{ type: "audio", open: async () => Readable.from([answer], { objectMode: false }) }],
  };
}
