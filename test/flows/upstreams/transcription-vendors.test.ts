import { Readable } from "node:stream";
import { DeepgramClient } from "@deepgram/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import type { VoiceKind } from "../../../src/providers/provider-definition.ts";
import { createProviderRegistry, type ProviderRegistry } from "../../../src/providers/provider-registry.ts";
import type {
  TranscriptionCall,
  TranscriptionProvider,
  TranscriptionRequest,
} from "../../../src/providers/transcription.ts";
import { type ScriptedVendor, startScriptedVendor } from "../../harness/upstreams/scripted-vendor.ts";
import { speechWires } from "../../harness/upstreams/wires/speech-wires.ts";

/** What each vendor's documentation shows: the request for a recording, and its reply. */
const wires: Partial<
  Record<VoiceKind, { model: string; plain: string; full: string; form: readonly string[]; reply: unknown }>
> = {
  // https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded
  deepgram: {
    model: "nova-3",
    plain: "/v1/listen?model=nova-3&smart_format=true&detect_language=true",
    full: "/v1/listen?model=nova-3&smart_format=true&language=en&diarize=true",
    form: [],
    reply: {
      metadata: { request_id: "r", created: "2026-01-01T00:00:00Z", duration: 3.1, channels: 1, models: ["m"] },
      results: {
        channels: [
          {
            detected_language: "en",
            alternatives: [
              {
                transcript: "Good morning. Hello!",
                confidence: 0.99,
                words: [
                  { word: "good", punctuated_word: "Good", start: 0.1, end: 0.4, confidence: 0.9, speaker: 0 },
                  { word: "morning", punctuated_word: "morning.", start: 0.4, end: 0.9, confidence: 0.9, speaker: 0 },
                  { word: "hello", punctuated_word: "Hello!", start: 1, end: 1.5, confidence: 0.9, speaker: 1 },
                ],
              },
            ],
          },
        ],
      },
    },
  },
  // https://elevenlabs.io/docs/api-reference/speech-to-text/convert
  elevenlabs: {
    model: "scribe_v2",
    plain: "/v1/speech-to-text",
    full: "/v1/speech-to-text",
    form: ["language_code", "diarize"],
    reply: {
      language_code: "en",
      language_probability: 0.98,
      text: "Good morning. Hello!",
      words: [
        { text: "Good", start: 0.1, end: 0.4, type: "word", speaker_id: "speaker_0", logprob: -0.1 },
        { text: " ", start: 0.4, end: 0.4, type: "spacing", speaker_id: "speaker_0", logprob: 0 },
        { text: "morning.", start: 0.4, end: 0.9, type: "word", speaker_id: "speaker_0", logprob: -0.1 },
        { text: " ", start: 0.9, end: 1, type: "spacing", speaker_id: "speaker_0", logprob: 0 },
        { text: "Hello!", start: 1, end: 1.5, type: "word", speaker_id: "speaker_1", logprob: -0.1 },
      ],
    },
  },
};

const plain: TranscriptionRequest = {
  ...{ task: "transcribe", language: null, prompt: null, temperature: null, timestamps: [] },
  ...{ isDiarized: false, hasLogprobs: false, chunking: null },
};

describe.each(Object.entries(wires))("%s", (kind, wire) => {
  const { headers, refusals } = speechWires[kind as VoiceKind];
  let vendor: ScriptedVendor;
  let registry: ProviderRegistry;
  let provider: TranscriptionProvider;

  beforeAll(async () => {
    vendor = await startScriptedVendor();
    registry = createProviderRegistry({ clock: systemClock, studioFolder: "/nowhere" });
    const base_url = `${vendor.origin}/v1`;
    const found = registry.getTranscription({ id: kind, kind: kind as VoiceKind, base_url, api_keys: ["${KEY}"] });
    if (found === null) throw new Error("It does not transcribe.");
    provider = found;
  });
  afterAll(async () => {
    expect(vendor.left()).toBe(0);
    await registry.close();
    await vendor[Symbol.asyncDispose]();
  });

  const call = (request: Partial<TranscriptionRequest> = {}, bytes = 5): TranscriptionCall => ({
    ...{ upstreamModel: wire.model, apiKey: "sk-1", timeoutMs: 10_000, signal: new AbortController().signal },
    ...{ request: { ...plain, ...request }, onAccepted: () => {}, onPieces: null },
    recording: {
      contentType: "audio/mpeg",
      bytes,
      durationMs: 3000,
      open: async () => Readable.from([Buffer.from("sound")]),
    },
  });

  async function fail(asked: TranscriptionCall): Promise<ProviderError> {
    const error = await provider.transcribe(asked).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderError);
    return error as ProviderError;
  }

  test("sends the recording as its documentation says, and reads text, words, segments and speakers", async () => {
    vendor.script({ status: 200, body: wire.reply }, { status: 200, body: wire.reply });
    const transcript = await provider.transcribe(call());
    expect(vendor.requests.at(-1)).toMatchObject({ method: "POST", path: wire.plain, headers });
    expect(String(vendor.requests.at(-1)?.body)).toContain("sound");
    expect(transcript).toMatchObject({ text: "Good morning. Hello!", language: "en", speakers: [], usage: null });
    expect(transcript.words.map(({ word, start }) => [word, start])).toEqual([
      ["Good", 0.1],
      ["morning.", 0.4],
      ["Hello!", 1],
    ]);
    expect(transcript.segments).toMatchObject([
      { id: 0, start: 0.1, end: 0.9, text: "Good morning." },
      { id: 1, start: 1, end: 1.5, text: "Hello!" },
    ]);
    const { speakers } = await provider.transcribe(call({ language: "en", isDiarized: true }));
    expect(vendor.requests.at(-1)?.path).toBe(wire.full);
    for (const name of wire.form) expect(String(vendor.requests.at(-1)?.body)).toContain(`name="${name}"`);
    expect(speakers).toMatchObject([
      { speaker: "speaker_0", text: "Good morning." },
      { speaker: "speaker_1", text: "Hello!" },
    ]);
  });

  test.each([
    ["key", "key-refused"],
    ["credit", "out-of-credit"],
    ["rate", "rate-limited"],
    ["invalid", "rejected"],
  ] as const)("a refusal for %s is %s", async (name, expected) => {
    const [status, body] = refusals[name];
    vendor.script({ status, body });
    const { kind: told, message } = await fail(call());
    expect(told).toBe(expected);
    expect(message.toLowerCase()).not.toContain(kind);
  });

  test("a broken connection, a fault and a reply without a transcript are failures of the upstream", async () => {
    vendor.script("reset", { status: 503, body: { message: "busy" } }, { status: 200, body: { odd: true } });
    const kinds = [await fail(call()), await fail(call()), await fail(call())].map((error) => error.kind);
    expect(kinds).toEqual(["unreachable", "overloaded", "bad-answer"]);
  });

  test("what the vendor does not have is refused before anything is sent", async () => {
    const before = vendor.requests.length;
    for (const [change, param] of [
      [{ task: "translate" }, "model"],
      [{ prompt: "Names: Ada" }, "prompt"],
      [{ hasLogprobs: true }, "include"],
    ] as const) {
      expect(provider.findObstacle({ ...plain, ...change })).toMatchObject({ param });
      expect((await fail(call(change))).kind).toBe("rejected");
    }
    expect(
      provider.findObstacle({ ...plain, language: "en", timestamps: ["word", "segment"], isDiarized: true }),
    ).toBeNull();
    expect(vendor.requests.length).toBe(before);
  });
});

test("Deepgram's own client reads the reply of the wire", async () => {
  await using vendor = await startScriptedVendor();
  vendor.script({ status: 200, body: wires.deepgram?.reply });
  const client = new DeepgramClient({ baseUrl: vendor.origin, apiKey: "sk-1", maxRetries: 0 });
  const answer = await client.listen.v1.media.transcribeFile(Buffer.from("sound"), {
    model: "nova-3",
    smart_format: true,
  });
  expect(vendor.requests[0]?.path).toBe("/v1/listen?model=nova-3&smart_format=true");
  expect(answer).toMatchObject({ results: { channels: [{ alternatives: [{ transcript: "Good morning. Hello!" }] }] } });
});
