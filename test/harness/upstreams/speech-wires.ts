import type { SpeechRequest } from "../../../src/providers/generation.ts";
import type { VoiceKind } from "../../../src/providers/provider-definition.ts";

type WireReply = readonly [status: number, body: unknown];

/** What a vendor of speech expects and sends, written from its documentation and not from our tables. */
export type SpeechWire = {
  base: string;
  model: string;
  headers: Readonly<Record<string, string>>;
  examples: readonly [SpeechExample, ...SpeechExample[]];
  /** The audio in JSON; absent if the response is the audio. */
  encode?(audio: Buffer): unknown;
  refusals: { key: WireReply; credit: WireReply; rate: WireReply; invalid: WireReply };
};

type SpeechExample = { request: SpeechRequest; path: string; body: unknown };

const speech: SpeechRequest = { type: "speech", text: "Hi", voice: "alloy", format: "mp3", speed: 1 };
const bearer = { authorization: "Bearer sk-1" };

/** `alloy` is mapped to `Rachel` by the route of the tests. */
export const speechWires: Record<VoiceKind, SpeechWire> = {
  elevenlabs: {
    base: "/v1",
    model: "eleven_multilingual_v2",
    headers: { "xi-api-key": "sk-1" },
    examples: [
      {
        request: speech,
        path: "/v1/text-to-speech/Rachel/stream?output_format=mp3_44100_128",
        body: { model_id: "eleven_multilingual_v2", text: "Hi" },
      },
      {
        request: { ...speech, format: "pcm", speed: 1.2 },
        path: "/v1/text-to-speech/Rachel/stream?output_format=pcm_24000",
        body: { model_id: "eleven_multilingual_v2", text: "Hi", voice_settings: { speed: 1.2 } },
      },
    ],
    refusals: {
      key: [401, { detail: { status: "invalid_api_key", message: "Invalid API key" } }],
      credit: [401, { detail: { status: "quota_exceeded", message: "This request exceeds your quota." } }],
      rate: [429, { detail: { status: "too_many_concurrent_requests", message: "Too many concurrent requests" } }],
      invalid: [422, { detail: [{ loc: ["body", "text"], msg: "field required", type: "value_error.missing" }] }],
    },
  },
  "minimax-speech": {
    base: "/v1",
    model: "speech-2.8-hd",
    headers: bearer,
    examples: [
      {
        request: { ...speech, speed: 1.5 },
        path: "/v1/t2a_v2",
        body: {
          ...{ model: "speech-2.8-hd", text: "Hi", stream: false, output_format: "hex" },
          voice_setting: { voice_id: "Rachel", speed: 1.5 },
          audio_setting: { format: "mp3", sample_rate: 24_000, channel: 1 },
        },
      },
    ],
    encode: (audio) => ({
      data: { audio: audio.toString("hex"), status: 2 },
      extra_info: { usage_characters: 2 },
      base_resp: { status_code: 0, status_msg: "success" },
    }),
    refusals: {
      key: [200, { base_resp: { status_code: 1004, status_msg: "login fail" } }],
      credit: [200, { base_resp: { status_code: 1008, status_msg: "insufficient balance" } }],
      rate: [200, { base_resp: { status_code: 1002, status_msg: "rate limit" } }],
      invalid: [200, { base_resp: { status_code: 2013, status_msg: "invalid params" } }],
    },
  },
  deepgram: {
    base: "/v1",
    model: "aura-2",
    headers: { authorization: "Token sk-1" },
    examples: [{ request: speech, path: "/v1/speak?model=Rachel&encoding=mp3", body: { text: "Hi" } }],
    refusals: {
      key: [401, { err_code: "INVALID_AUTH", err_msg: "Invalid credentials.", request_id: "r" }],
      credit: [402, { err_code: "ASR_PAYMENT_REQUIRED", err_msg: "Project does not have enough credits" }],
      rate: [429, { err_code: "TOO_MANY_REQUESTS", err_msg: "Too many requests. Please try again later" }],
      invalid: [400, { err_code: "Bad Request", err_msg: "No such model", message: "No such model" }],
    },
  },
  hume: {
    base: "/v0",
    model: "octave",
    headers: { "x-hume-api-key": "sk-1" },
    examples: [
      {
        request: { ...speech, speed: 1.5, options: { instructions: "Whisper." } },
        path: "/v0/tts/file",
        body: {
          utterances: [
            { text: "Hi", voice: { name: "Rachel", provider: "HUME_AI" }, speed: 1.5, description: "Whisper." },
          ],
          format: { type: "mp3" },
        },
      },
    ],
    refusals: {
      key: [401, { fault: { faultstring: "Invalid ApiKey" } }],
      credit: [402, { code: "E0300", message: "Out of credits" }],
      rate: [429, { message: "Rate limit exceeded" }],
      invalid: [422, { detail: [{ loc: ["body", "utterances"], msg: "too short", type: "too_short" }] }],
    },
  },
  lmnt: {
    base: "/v1",
    model: "blizzard",
    headers: { "x-api-key": "sk-1" },
    examples: [
      {
        request: { ...speech, format: "wav" },
        path: "/v1/ai/speech/bytes",
        body: { model: "blizzard", text: "Hi", voice: "Rachel", format: "wav", sample_rate: 24_000 },
      },
    ],
    refusals: {
      key: [401, { error: "Invalid API key" }],
      credit: [402, { error: "Character limit reached" }],
      rate: [429, { error: "Too many requests" }],
      invalid: [400, { error: "Invalid voice" }],
    },
  },
};
