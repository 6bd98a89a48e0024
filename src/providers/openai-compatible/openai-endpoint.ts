import type { Clock } from "../../lib/clock.ts";
import { type BaseUrl, readBaseUrl } from "../base-url.ts";
import { createMediaClient, type MediaClient, type MediaClientOptions } from "../media-client.ts";

/** The address of an OpenAI-compatible upstream and its options. */
export type OpenAiMediaOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** The address before `/images/generations` or `/audio/speech`: `https://api.example.com/v1`. */
  baseUrl: string;
  authHeader?: { name: string; prefix: string };
  /** The header that makes a repeated request the same one. */
  idempotencyHeader?: string | null;
  /** Request fields that the upstream rejects. */
  unsupportedFields?: readonly string[];
  clock: Clock;
};

export type OpenAiEndpoint = Pick<BaseUrl, "pathOf"> & { client: MediaClient; clock: Clock };

/** The `traceparent` header, if there is a trace to pass on. */
export function presentTrace({ traceparent = null }: { traceparent?: string | null }): Record<string, string> {
  return traceparent === null ? {} : { traceparent };
}

export function createOpenAiEndpoint(options: OpenAiMediaOptions): OpenAiEndpoint {
  const { baseUrl, authHeader = { name: "authorization", prefix: "Bearer " }, clock } = options;
  const { origin, pathOf } = readBaseUrl(baseUrl);
  return { client: createMediaClient({ ...options, origin, auth: authHeader }), clock, pathOf };
}
