import type { UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import type { SpeechCall } from "../generation.ts";
import type { MediaRequest } from "../media-client.ts";
import { type OpenAiEndpoint, presentTrace } from "./openai-endpoint.ts";

/** More than an hour of the least compressed audio. */
export const audioBytesMax = 256 * 1024 * 1024;

const idleMsMax = 30_000;

export function writeSpeechRequest(endpoint: OpenAiEndpoint, call: SpeechCall): MediaRequest & { method: "POST" } {
  const { apiKey, timeoutMs, signal, upstreamModel, request } = call;
  const { text, voice, format, speed, instructions } = request;
  return {
    method: "POST",
    path: endpoint.pathOf("audio/speech"),
    headers: { "content-type": "application/json", ...presentTrace(call) },
    body: JSON.stringify({
      model: upstreamModel,
      input: text,
      voice,
      response_format: format,
      // Not every compatible server supports it.
      ...(speed === 1 ? {} : { speed }),
      ...(instructions === undefined ? {} : { instructions }),
    }),
    ...{ apiKey, timeoutMs, signal, idleMs: Math.min(timeoutMs, idleMsMax) },
  };
}

/** Whether the response is audio, not an error. */
export function isAudio(headers: UpstreamHeaders): boolean {
  const type = String(headers["content-type"] ?? "").toLowerCase();
  return !type.startsWith("text/") && !type.includes("json") && !type.includes("xml");
}
