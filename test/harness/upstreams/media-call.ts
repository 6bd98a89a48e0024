import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { canary } from "./canary.ts";
import type { MediaBehaviour } from "./media-behaviour.ts";
import { listEdgeHeaders } from "./vendor-wire.ts";

/** Any request that a fake media upstream received completely. */
export type MediaCall = {
  number: number;
  method: string;
  /** As received, with the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** `cut` when the fake itself ended the connection, `aborted` when the client did. */
  outcome: "open" | "finished" | "cut" | "aborted";
};

/** A job that a vendor received. */
export type MediaSubmission = {
  vendor: "fal" | "openai-images" | "openai-speech" | "openai-transcription";
  model: string;
  /** The prompt or text of the job. */
  prompt: string;
  /** Every field as the vendor received it. */
  fields: Record<string, unknown>;
  files: readonly { name: string; filename: string; contentType: string; bytes: Buffer }[];
  apiKey: string | null;
  call: MediaCall;
  /** Why the vendor refused it; a correct translation is never refused unless scripted. */
  refusal: string | null;
};

export type MediaReply = { status: number; headers?: Record<string, string>; body: Buffer | string };

export type Sender = { call: MediaCall; response: ServerResponse; signal: AbortSignal };

export function writeJson(status: number, body: unknown, headers: Record<string, string> = {}): MediaReply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

/** Sends the answer to a submission with its behaviour. */
export async function sendReply(
  { call, response, signal }: Sender,
  reply: MediaReply,
  behaviour: MediaBehaviour,
): Promise<void> {
  await behaviour.beforeHead?.pass(signal);
  if (behaviour.isReset === true) {
    call.outcome = "cut";
    response.socket?.resetAndDestroy();
    return;
  }
  const whole = Buffer.from(behaviour.body ?? reply.body);
  const bytes = behaviour.isMalformed === true ? whole.subarray(0, whole.length / 2) : whole;
  response.writeHead(reply.status, {
    ...listEdgeHeaders(call.number),
    "x-request-id": `req_${canary}_${call.number}`,
    "content-length": String(bytes.length),
    ...reply.headers,
    ...behaviour.headers,
    ...(behaviour.contentType === undefined ? {} : { "content-type": behaviour.contentType }),
  });
  response.flushHeaders();
  const half = behaviour.cut === "after-head" ? 0 : bytes.length / 2;
  if (behaviour.cut !== undefined || behaviour.beforeRest !== undefined) {
    await new Promise<void>((written) => response.write(bytes.subarray(0, half), () => written()));
    await behaviour.beforeRest?.pass(signal);
    if (behaviour.cut !== undefined) {
      call.outcome = "cut";
      response.socket?.destroySoon();
      return;
    }
    response.end(bytes.subarray(half));
    return;
  }
  response.end(bytes);
}
