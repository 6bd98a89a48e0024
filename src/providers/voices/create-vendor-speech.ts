import { Readable } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import { type ExchangeAnswer, readWhole } from "../../platform/net/guarded-client.ts";
import { readBaseUrl } from "../base-url.ts";
import { ProviderError } from "../contract.ts";
import type { GenerationProvider, SpeechCall, SpeechProvider } from "../generation.ts";
import { createMediaClient, type MediaClientOptions, type MediaRequest, readRefusal } from "../media-client.ts";
import { createSilence, startWith } from "../openai-compatible/create-openai-speech.ts";
import { parseJson } from "../openai-compatible/json-value.ts";
import { audioBytesMax, isAudio } from "../openai-compatible/request-speech.ts";
import { pickWord } from "../pick.ts";
import { isRefusal, readReplyError } from "../read-vendor-reply.ts";
import { findFieldObstacle, findParam, findRequestObstacle, listValues, writeFields } from "../write-media-fields.ts";
import type { SpeechVendor } from "./speech-vendor.ts";

export type VendorSpeechOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  /** Instead of the vendor's own. */
  baseUrl?: string | undefined;
  clock: Clock;
};

const idleMsMax = 30_000;
/** Audio as text is decoded whole. */
const encodedBytesMax = 64 * 1024 * 1024;
/** A task's audio is buffered until it is stored, so that a truncated file is never taken for a complete one. */
const taskAudioBytesMax = 64 * 1024 * 1024;

/** Speech from a vendor's table: streamed for a call, and whole for a task. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one client; each function is one request to the vendor.
export function createVendorSpeech(
  vendor: SpeechVendor,
  options: VendorSpeechOptions,
): { speech: SpeechProvider; generation: GenerationProvider } {
  const { fields: rules } = vendor;
  const baseUrl = readBaseUrl(options.baseUrl ?? vendor.baseUrl);
  const client = createMediaClient({ ...options, origin: baseUrl.origin, authHeader: vendor.auth });

  function write({ apiKey, timeoutMs, signal, request, route, upstreamModel }: SpeechCall): MediaRequest {
    const written = writeFields(listValues(request, []), rules, route);
    const path = vendor.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(written[name] ?? "");
      delete written[name];
      return encodeURIComponent(value);
    });
    const body = {
      ...(vendor.modelField === undefined ? {} : { [vendor.modelField]: upstreamModel }),
      ...vendor.fixed,
      ...(vendor.arrange?.(written) ?? written),
    };
    return {
      ...{ method: "POST", path: baseUrl.pathOf(path), body: JSON.stringify(body) },
      headers: { "content-type": "application/json" },
      ...{ apiKey, timeoutMs, signal, idleMs: Math.min(timeoutMs, idleMsMax) },
    };
  }

  /** The error of a response without audio, whatever its status. */
  async function readError(answer: ExchangeAnswer, { signal, route }: SpeechCall): Promise<ProviderError> {
    const { status, headers } = answer;
    const whole = { status, headers, body: await readRefusal(answer, signal) };
    return readReplyError(vendor, whole, {
      now: options.clock.now(),
      findParam: (field) => findParam(field, rules, route),
    });
  }

  /** The audio of a JSON reply. Throws if the reply is an error. */
  async function decode(answer: ExchangeAnswer, call: SpeechCall): Promise<Buffer> {
    const { at, as } = vendor.encoded ?? { at: "", as: "base64" };
    const body = parseJson(String(await readWhole(answer, { bytesMax: encodedBytesMax })));
    const whole = { status: answer.status, headers: answer.headers, body };
    if (isRefusal(vendor, whole)) {
      const now = options.clock.now();
      throw readReplyError(vendor, whole, { now, findParam: (field) => findParam(field, rules, call.route) });
    }
    return Buffer.from(pickWord(body, at) ?? "", as);
  }

  async function readAudio(answer: ExchangeAnswer, call: SpeechCall, bytesMax: number): Promise<Buffer> {
    if (answer.status >= 300) throw await readError(answer, call);
    if (vendor.encoded !== undefined) return await decode(answer, call);
    if (!isAudio(answer.headers)) throw await readError(answer, call);
    return await readWhole(answer, { bytesMax });
  }

  const speech: SpeechProvider = {
    findObstacle: (request, route) => findFieldObstacle(listValues(request, []), rules, route),
    async startSpeech(call) {
      const answer = await client.send(write(call));
      if (answer.status < 300 && vendor.encoded === undefined && isAudio(answer.headers)) {
        const rest = answer.read({ bytesMax: audioBytesMax });
        const first = await rest.next();
        if (first.done === true) throw createSilence();
        return { chunks: startWith(first.value, rest) };
      }
      const audio = await readAudio(answer, call, audioBytesMax);
      if (audio.length === 0) throw createSilence();
      return { chunks: Readable.from([audio], { objectMode: true }) };
    },
    close: () => client.close(),
  };

  const generation: GenerationProvider = {
    traits: { isRepeatable: false, keepsWork: false, cancels: "never", pollMsMin: 1000, pollMsMax: 10_000 },
    findObstacle: (request, search) => findRequestObstacle(request, search, { speech: rules }),
    async submit(call) {
      const { request } = call;
      if (request.type !== "speech") throw new ProviderError("rejected", `This upstream makes no ${request.type}.`);
      const spoken = { ...call, request };
      const once = await client.sendOnce(write(spoken), async (answer) => {
        try {
          return await readAudio(answer, spoken, taskAudioBytesMax);
        } catch (error) {
          // A refusal is certain; a broken connection is not.
          if (error instanceof ProviderError && error.detail?.status !== undefined) return error;
          throw error;
        }
      });
      if (once.kind === "ambiguous") return once;
      if (once.answer instanceof ProviderError) throw once.answer;
      const audio = once.answer;
      if (audio.length === 0) return { kind: "ambiguous", error: createSilence() };
      return {
        kind: "done",
        outputs: [{ type: "audio", open: async () => Readable.from([audio], { objectMode: false }) }],
      };
    },
    // This upstream has no jobs: a poll means that the result was lost.
    poll: async () => ({ kind: "lost" }),
    cancel: async () => "unsupported",
    close: () => client.close(),
  };
  return { speech, generation };
}
