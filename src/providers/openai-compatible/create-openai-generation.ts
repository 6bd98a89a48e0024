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
import { isAudio, writeSpeechRequest } from "./ask-speech.ts";
import { createSilence, readSpeechRefusal } from "./create-openai-speech.ts";
import { createOpenAiEndpoint, type OpenAiEndpoint, type OpenAiMediaOptions } from "./openai-endpoint.ts";
import { refuseOrWait } from "./read-media-error.ts";
import { submitImage } from "./submit-image.ts";

/** A task's audio is kept in memory until it is stored, so that half of one is never taken for the whole. */
const taskAudioBytesMax = 64 * 1024 * 1024;

const obstacles = {
  image: null,
  speech: null,
  video: { param: "model", message: "This model does not make videos." },
  avatar: { param: "model", message: "This model does not make avatars." },
} as const satisfies Record<GenerationRequest["type"], { param: string; message: string } | null>;

/** Where a request that is sent again is the same one, the header that says so. */
type Options = OpenAiMediaOptions & { idempotencyHeader: string | null };

/**
 * Images and speech by the API that OpenAI made common. All of it is made while we wait, so there is nothing to poll: what
 * got lost on the way is asked for again where that is the same request to the upstream, and is gone where it is not.
 */
export function createOpenAiGeneration({ idempotencyHeader, ...options }: Options): GenerationProvider {
  const endpoint = createOpenAiEndpoint(options);
  const isRepeatable = idempotencyHeader !== null;
  return {
    traits: { isRepeatable, keepsWork: isRepeatable, cancels: "never", pollMsMin: 1000, pollMsMax: 10_000 },
    findObstacle: ({ type }) => obstacles[type],
    async submit(call) {
      const { request, taskId } = call;
      const headers = idempotencyHeader === null ? {} : { [idempotencyHeader]: taskId };
      if (request.type === "image") return await submitImage(endpoint, { ...call, request, headers });
      if (request.type === "speech") return await submitSpeech(endpoint, { ...call, request, headers });
      throw new ProviderError("rejected", obstacles[request.type].message);
    },
    // Nothing of this upstream is ever under way: whoever asks has lost what was made.
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
  if (answer instanceof ProviderError) return refuseOrWait(answer, call);
  if (answer.length === 0) return { kind: "ambiguous", error: createSilence() };
  return {
    kind: "done",
    outputs: [{ type: "audio", open: async () => Readable.from([answer], { objectMode: false }) }],
  };
}
