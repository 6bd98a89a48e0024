import { readWhole } from "../../platform/net/guarded-client.ts";
import { readBaseUrl } from "../base-url.ts";
import { ProviderError } from "../contract.ts";
import { createMediaClient, readRefusal } from "../media-client.ts";
import { listStructureMax, parseJson } from "../openai-compatible/json-value.ts";
import { readReplyError } from "../read-vendor-reply.ts";
import type { TranscriptionProvider, TranscriptionRequest } from "../transcription.ts";
import type { VendorSpeechOptions } from "./create-vendor-speech.ts";
import type { TranscriptionVendor } from "./transcription-vendor.ts";

/** Hours of speech, word by word. */
const transcriptBytesMax = 16 * 1024 * 1024;

/** Transcripts from a vendor's table. */
export function createVendorTranscription(
  vendor: TranscriptionVendor,
  options: VendorSpeechOptions,
): TranscriptionProvider {
  const { origin, pathOf } = readBaseUrl(options.baseUrl ?? vendor.baseUrl);
  const client = createMediaClient({ ...options, origin, auth: vendor.auth });
  const { clock } = options;
  return {
    findObstacle: (request) => findObstacle(vendor, request),
    async transcribe(call) {
      const { apiKey, timeoutMs, signal, request, onHead } = call;
      const obstacle = findObstacle(vendor, request);
      if (obstacle !== null) throw new ProviderError("rejected", obstacle.message, { param: obstacle.param });
      const { path, contentType, bytes, body } = vendor.write(call);
      const answer = await client.send({
        ...{ method: "POST", path: pathOf(path), body, apiKey, timeoutMs, signal },
        ...(onHead === undefined ? {} : { onHead }),
        headers: { "content-type": contentType, "content-length": String(bytes) },
      });
      const { status, headers } = answer;
      if (status >= 300) {
        const refusal = { status, headers, body: await readRefusal(answer, signal) };
        throw readReplyError(vendor, refusal, { now: clock.now(), findParam: () => null });
      }
      call.onAccepted();
      const text = String(await readWhole(answer, { bytesMax: transcriptBytesMax }));
      const transcript = vendor.read(parseJson(text, listStructureMax), request);
      if (transcript !== null) return transcript;
      throw new ProviderError("bad-answer", "The response has no transcript.", { detail: { status } });
    },
    close: () => client.close(),
  };
}

function findObstacle(
  { takes }: TranscriptionVendor,
  { task, language, prompt, temperature, hasLogprobs, chunking }: TranscriptionRequest,
): { param: string; message: string } | null {
  if (task === "translate") return { param: "model", message: "This model does not translate." };
  const asked: readonly (readonly [param: string, isAsked: boolean])[] = [
    ["language", language !== null && !takes.has("language")],
    ["prompt", prompt !== null],
    ["temperature", temperature !== null && !takes.has("temperature")],
    ["include", hasLogprobs],
    ["chunking_strategy", chunking !== null && chunking !== "auto"],
  ];
  const [param] = asked.find(([, isAsked]) => isAsked) ?? [];
  return param === undefined ? null : { param, message: `This model does not support ${param}.` };
}
