import type { UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import type { SpeechCall } from "../generation.ts";
import type { MediaRequest } from "../media-client.ts";
import type { FieldRules } from "../route-terms.ts";
import { listValues, writeFields } from "../write-media-fields.ts";
import { type OpenAiEndpoint, presentTrace } from "./openai-endpoint.ts";

/** More than an hour of the least compressed audio. */
export const audioBytesMax = 256 * 1024 * 1024;

const idleMsMax = 30_000;

/** OpenAI's fields have our names. */
export const speechRules: FieldRules = {
  input: "input",
  voice: "voice",
  response_format: "response_format",
  speed: "speed",
  instructions: "instructions",
};

export function writeSpeechRequest(endpoint: OpenAiEndpoint, call: SpeechCall): MediaRequest & { method: "POST" } {
  const { apiKey, timeoutMs, signal, upstreamModel, request, route, onHead } = call;
  return {
    method: "POST",
    path: endpoint.pathOf("audio/speech", upstreamModel),
    headers: { "content-type": "application/json", ...presentTrace(call) },
    body: JSON.stringify({ model: upstreamModel, ...writeFields(listValues(request, []), speechRules, route) }),
    ...{ apiKey, timeoutMs, signal, idleMs: Math.min(timeoutMs, idleMsMax) },
    ...(onHead === undefined ? {} : { onHead }),
  };
}

/** Whether the response is audio, not an error. */
export function isAudio(headers: UpstreamHeaders): boolean {
  const type = String(headers["content-type"] ?? "").toLowerCase();
  return !type.startsWith("text/") && !type.includes("json") && !type.includes("xml");
}
