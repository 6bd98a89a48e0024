import type { UpstreamHeaders } from "../platform/net/upstream-call.ts";
import type { ProviderDefinition } from "./provider-definition.ts";

type Kind = ProviderDefinition["kind"];

/** The response headers in which vendors name a request, by kind. Vendors' support asks for these ids. */
const namesByKind: Partial<Record<Kind, readonly string[]>> = {
  azure: ["apim-request-id", "x-ms-request-id"],
  anthropic: ["request-id"],
  bedrock: ["x-amzn-requestid"],
  "bedrock-media": ["x-amzn-requestid"],
  fal: ["x-fal-request-id"],
  deepgram: ["dg-request-id"],
  elevenlabs: ["request-id"],
  minimax: ["trace-id"],
  "minimax-speech": ["trace-id"],
};

/** Of other kinds, and if the kind's own are missing. A proxy's id comes last: only the proxy knows it. */
const usualNames = [
  ...["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-goog-request-id"],
  // OpenRouter, SiliconFlow, Moonshot, Zhipu, Volcengine, DeepSeek, Mistral, Cohere, NVIDIA, MiniMax.
  ...["x-generation-id", "x-siliconcloud-trace-id", "msh-request-id", "x-log-id", "x-tt-logid", "x-ds-trace-id"],
  ...["mistral-correlation-id", "x-debug-trace-id", "nvcf-reqid", "trace-id"],
  ...["x-correlation-id", "x-trace-id", "cf-ray"],
] as const;

const printable = /^[!-~]{1,128}$/;

/** The vendor's own id of a request; `null` if it sent none, or one that is too long or not printable. */
export function findVendorRequestId(headers: UpstreamHeaders, kind: Kind): string | null {
  const own = namesByKind[kind];
  return (own === undefined ? null : findFirst(headers, own)) ?? findFirst(headers, usualNames);
}

function findFirst(headers: UpstreamHeaders, names: readonly string[]): string | null {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string" && printable.test(value)) return value;
  }
  return null;
}
