import { Readable } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import { type ExchangeAnswer, readWhole } from "../../platform/net/guarded-client.ts";
import { readBaseUrl } from "../base-url.ts";
import { ProviderError } from "../contract.ts";
import type {
  GenerationCall,
  GenerationProvider,
  SpeechAudio,
  SpeechCall,
  SpeechProvider,
  SpeechRequest,
  SubmitOutcome,
} from "../generation.ts";
import {
  createMediaClient,
  type MediaClient,
  type MediaClientOptions,
  type MediaRequest,
  readRefusal,
} from "../media-client.ts";
import { createSilence, startWith } from "../openai-compatible/create-openai-speech.ts";
import { parseJson } from "../openai-compatible/json-value.ts";
import { audioBytesMax, isAudio } from "../openai-compatible/request-speech.ts";
import { pickWord } from "../pick.ts";
import { isRefusal, readReplyError } from "../read-vendor-reply.ts";
import type { RouteTerms } from "../route-terms.ts";
import { findFieldObstacle, findParam, findRequestObstacle, listValues, writeFields } from "../write-media-fields.ts";
import type { SpeechVendor } from "./speech-vendor.ts";

export type VendorSpeechOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** Instead of the vendor's own. */
  baseUrl?: string | undefined;
  clock: Clock;
};

const idleMsMax = 30_000;
/** Audio as text is decoded at once, which must not block the event loop for long. */
const encodedBytesMax = 32 * 1024 * 1024;
/** A task's audio is buffered until it is stored, so that a truncated file is never taken for a complete one. */
const taskAudioBytesMax = 64 * 1024 * 1024;
/** As part of a path it would lead to another operation of the vendor. */
const dotSegment = /^\.{1,2}$/;

/** A vendor with the connection to it. */
type Voice = { vendor: SpeechVendor; client: MediaClient; clock: Clock; pathOf(operation: string): string };

/** Speech from a vendor's table: streamed for a call, and whole for a task. */
export function createVendorSpeech(
  vendor: SpeechVendor,
  options: VendorSpeechOptions,
): { speech: SpeechProvider; generation: GenerationProvider } {
  const { origin, pathOf } = readBaseUrl(options.baseUrl ?? vendor.baseUrl);
  const client = createMediaClient({ ...options, origin, auth: vendor.auth });
  const voice: Voice = { vendor, client, clock: options.clock, pathOf };
  const close = (): Promise<void> => client.close();
  return {
    speech: {
      findObstacle: (request, route) => findSpeechObstacle(vendor, request, route),
      startSpeech: (call) => startSpeech(voice, call),
      close,
    },
    generation: {
      traits: { isRepeatable: false, keepsWork: false, cancels: "never", pollMsMin: 1000, pollMsMax: 10_000 },
      findObstacle: (request, search) =>
        request.type === "speech"
          ? findSpeechObstacle(vendor, request, search.route)
          : findRequestObstacle(request, search, { speech: vendor.fields }),
      submit: (call) => submitSpeech(voice, call),
      // This upstream has no jobs: a poll means that the result was lost.
      poll: async () => ({ kind: "lost" }),
      cancel: async () => "unsupported",
      close,
    },
  };
}

function findSpeechObstacle(vendor: SpeechVendor, request: SpeechRequest, route: RouteTerms) {
  const values = listValues(request, []);
  const obstacle = findFieldObstacle(values, vendor.fields, route);
  if (obstacle !== null) return obstacle;
  const written = writeFields(values, vendor.fields, route);
  const isInPath = readPath(vendor, written).split("?", 1)[0]?.includes("{voice}") === true;
  return isInPath && dotSegment.test(String(written.voice))
    ? { param: "voice", message: "There is no such voice." }
    : null;
}

function readPath({ path }: SpeechVendor, written: Readonly<Record<string, unknown>>): string {
  return typeof path === "string" ? path : path(written);
}

async function startSpeech(voice: Voice, call: SpeechCall): Promise<SpeechAudio> {
  const answer = await voice.client.send(write(voice, call));
  if (answer.status < 300 && voice.vendor.encoded === undefined && isAudio(answer.headers)) {
    const rest = answer.read({ bytesMax: audioBytesMax });
    const first = await rest.next();
    if (first.done === true) throw createSilence();
    return { chunks: startWith(first.value, rest) };
  }
  const audio = await readAudio(voice, answer, call);
  if (audio.length === 0) throw createSilence();
  return { chunks: Readable.from([audio], { objectMode: true }) };
}

async function submitSpeech(voice: Voice, call: GenerationCall): Promise<SubmitOutcome> {
  const { request } = call;
  if (request.type !== "speech") throw new ProviderError("rejected", `This upstream makes no ${request.type}.`);
  const spoken = { ...call, request };
  const once = await voice.client.sendOnce(write(voice, spoken), async (answer) => {
    try {
      return await readAudio(voice, answer, spoken);
    } catch (error) {
      // A refusal is certain; a broken connection is not.
      if (error instanceof ProviderError && error.detail?.status !== undefined) return error;
      throw error;
    }
  });
  if (once.kind === "ambiguous") return once;
  const { answer: audio } = once;
  if (audio instanceof ProviderError) throw audio;
  if (audio.length === 0) return { kind: "ambiguous", error: createSilence() };
  return {
    kind: "done",
    outputs: [{ type: "audio", open: async () => Readable.from([audio], { objectMode: false }) }],
  };
}

function write({ vendor, pathOf }: Voice, call: SpeechCall): MediaRequest {
  const { apiKey, timeoutMs, signal, request, route, upstreamModel, onHead } = call;
  const obstacle = findSpeechObstacle(vendor, request, route);
  if (obstacle !== null) throw new ProviderError("rejected", obstacle.message, { param: obstacle.param });
  const written = writeFields(listValues(request, []), vendor.fields, route);
  const path = readPath(vendor, written).replaceAll(/(&\w+=)?\{(\w+)\}/g, (_, parameter: string, name: string) => {
    const value = written[name];
    delete written[name];
    return value === undefined ? "" : `${parameter ?? ""}${encodeURIComponent(String(value))}`;
  });
  const body = {
    ...(vendor.modelField === undefined ? {} : { [vendor.modelField]: upstreamModel }),
    ...vendor.fixed,
    ...(vendor.arrange?.(written) ?? written),
  };
  return {
    ...{ method: "POST", path: pathOf(path), body: JSON.stringify(body) },
    headers: { "content-type": "application/json" },
    ...{ apiKey, timeoutMs, signal, idleMs: Math.min(timeoutMs, idleMsMax) },
    ...(onHead === undefined ? {} : { onHead }),
  };
}

/** The whole audio. Throws the error of a response without audio, whatever its status. */
async function readAudio({ vendor, clock }: Voice, answer: ExchangeAnswer, call: SpeechCall): Promise<Buffer> {
  const { status, headers } = answer;
  const refuse = (body: unknown): ProviderError =>
    readReplyError(
      vendor,
      { status, headers, body },
      { now: clock.now(), findParam: (field) => findParam(field, vendor.fields, call.route) },
    );
  const { encoded } = vendor;
  if (status >= 300 || (encoded === undefined && !isAudio(headers))) {
    throw refuse(await readRefusal(answer, call.signal));
  }
  if (encoded === undefined) return await readWhole(answer, { bytesMax: taskAudioBytesMax });
  const body = parseJson(String(await readWhole(answer, { bytesMax: encodedBytesMax })));
  if (isRefusal(vendor, { status, headers, body })) throw refuse(body);
  return Buffer.from(pickWord(body, encoded.at) ?? "", encoded.as);
}
