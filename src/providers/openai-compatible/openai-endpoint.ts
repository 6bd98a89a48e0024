import type { Clock } from "../../lib/clock.ts";
import { readBaseUrl } from "../base-url.ts";
import { createMediaClient, type MediaClient, type MediaClientOptions } from "../media-client.ts";

/** Where an upstream of OpenAI's form is, and how it is asked. */
export type OpenAiMediaOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** Up to where `/images/generations` or `/audio/speech` follows: `https://api.example.com/v1`. */
  baseUrl: string;
  authHeader?: MediaClientOptions["authHeader"];
  clock: Clock;
};

export type OpenAiEndpoint = { client: MediaClient; clock: Clock; pathOf(operation: string): string };

/** The header that tells of the trace, to whom it is to be told. */
export function presentTrace({ traceparent = null }: { traceparent?: string | null }): Record<string, string> {
  return traceparent === null ? {} : { traceparent };
}

export function createOpenAiEndpoint(options: OpenAiMediaOptions): OpenAiEndpoint {
  const { baseUrl, authHeader = { name: "authorization", prefix: "Bearer " }, clock } = options;
  const { origin, pathOf } = readBaseUrl(baseUrl);
  return { client: createMediaClient({ ...options, origin, authHeader }), clock, pathOf };
}
