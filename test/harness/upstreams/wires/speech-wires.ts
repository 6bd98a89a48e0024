import type { Deepgram } from "@deepgram/sdk";
import type { Hume } from "hume";
import type Lmnt from "lmnt-node";
import { type TSchema, Type } from "typebox";
import type { SpeechRequest } from "../../../../src/providers/generation.ts";
import type { VoiceKind } from "../../../../src/providers/provider-definition.ts";
import { bearer, oneOf, strict, text, type WireReply, type WireSource } from "./queue-wire.ts";

/** What a vendor of speech expects and sends, written from its documentation and its SDK and not from our tables. */
export type SpeechWire = {
  source: WireSource;
  base: string;
  model: string;
  headers: Readonly<Record<string, string>>;
  /** What the vendor accepts, by path. Unknown fields and parameters are refused, as the vendor does. */
  accepts: Readonly<Record<string, { query?: TSchema; body: TSchema }>>;
  examples: readonly [SpeechExample, ...SpeechExample[]];
  /** The audio in JSON; absent if the response is the audio. */
  encode?(audio: Buffer): unknown;
  refusals: { key: WireReply; credit: WireReply; rate: WireReply; invalid: WireReply };
};

type SpeechExample = { request: SpeechRequest; path: string; body: unknown };

const speech: SpeechRequest = { type: "speech", text: "Hi", voice: "alloy", format: "mp3", speed: 1 };

const elevenlabsBody = strict(
  { text },
  {
    ...{ model_id: text, language_code: text, seed: Type.Integer(), previous_text: text, next_text: text },
    apply_text_normalization: oneOf("auto", "on", "off"),
    voice_settings: strict(
      {},
      {
        ...{ stability: Type.Number(), similarity_boost: Type.Number(), style: Type.Number() },
        use_speaker_boost: Type.Boolean(),
        speed: Type.Number({ minimum: 0.7, maximum: 1.2 }),
      },
    ),
  },
);
const streamFormat = Type.String({ pattern: "^((mp3|opus)_\\d+_\\d+|(pcm|ulaw|alaw)_\\d+)$" });
const wholeFormat = Type.String({ pattern: "^((mp3|opus)_\\d+_\\d+|(pcm|wav|ulaw|alaw)_\\d+)$" });

/** `alloy` is mapped to `Rachel` by the route of the tests. */
export const speechWires: Record<VoiceKind, SpeechWire> = {
  // The vendor's client has 23,000 files, so none is installed. The wire is that of its version 2.73.0.
  elevenlabs: {
    source: { documentation: "https://elevenlabs.io/docs/api-reference/text-to-speech/stream" },
    base: "/v1",
    model: "eleven_multilingual_v2",
    headers: { "xi-api-key": "sk-1" },
    accepts: {
      "/v1/text-to-speech/Rachel/stream": {
        query: strict({}, { output_format: streamFormat, enable_logging: text }),
        body: elevenlabsBody,
      },
      "/v1/text-to-speech/Rachel": {
        query: strict({}, { output_format: wholeFormat, enable_logging: text }),
        body: elevenlabsBody,
      },
    },
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
      {
        request: { ...speech, format: "wav" },
        path: "/v1/text-to-speech/Rachel?output_format=wav_24000",
        body: { model_id: "eleven_multilingual_v2", text: "Hi" },
      },
    ],
    refusals: {
      key: [401, { detail: { status: "invalid_api_key", message: "Invalid API key" } }],
      credit: [401, { detail: { status: "quota_exceeded", message: "This request exceeds your quota." } }],
      rate: [429, { detail: { status: "too_many_concurrent_requests", message: "Too many concurrent requests" } }],
      invalid: [422, { detail: [{ loc: ["body", "text"], msg: "field required", type: "value_error.missing" }] }],
    },
  },
  // The vendor has no JavaScript client.
  "minimax-speech": {
    source: { documentation: "https://platform.minimax.io/docs/api-reference/speech-t2a-http" },
    base: "/v1",
    model: "speech-2.8-hd",
    headers: bearer,
    accepts: {
      "/v1/t2a_v2": {
        body: strict(
          { model: text, text },
          {
            ...{ stream: Type.Boolean(), language_boost: text, subtitle_enable: Type.Boolean() },
            output_format: oneOf("hex", "url"),
            voice_setting: strict(
              { voice_id: text },
              {
                speed: Type.Number({ minimum: 0.5, maximum: 2 }),
                vol: Type.Number(),
                pitch: Type.Integer(),
                emotion: text,
              },
            ),
            audio_setting: strict(
              {},
              {
                format: oneOf("mp3", "pcm", "flac", "wav"),
                sample_rate: oneOf(8000, 16_000, 22_050, 24_000, 32_000, 44_100),
                bitrate: Type.Integer(),
                channel: oneOf(1, 2),
              },
            ),
          },
        ),
      },
    },
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
  // The shape of `@mistralai/mistralai` 2.7.0, which is larger than what uses it here.
  "mistral-speech": {
    source: { documentation: "https://docs.mistral.ai/api/endpoint/audio/speech" },
    base: "/v1",
    model: "voxtral-mini-tts-3-0",
    headers: bearer,
    accepts: {
      "/v1/audio/speech": {
        body: strict(
          { input: text, stream: Type.Boolean() },
          {
            ...{ model: text, voice_id: text, ref_audio: text, prompt_cache_key: text, metadata: Type.Unknown() },
            response_format: oneOf("pcm", "wav", "mp3", "flac", "opus"),
          },
        ),
      },
    },
    examples: [
      {
        request: { ...speech, format: "flac" },
        path: "/v1/audio/speech",
        body: {
          ...{ model: "voxtral-mini-tts-3-0", input: "Hi", voice_id: "Rachel" },
          ...{ response_format: "flac", stream: false },
        },
      },
    ],
    encode: (audio) => ({ audio_data: audio.toString("base64") }),
    refusals: {
      key: [401, { message: "Unauthorized", request_id: "abc" }],
      credit: [402, { message: "Payment required", request_id: "abc" }],
      rate: [429, { message: "Requests rate limit exceeded" }],
      invalid: [
        422,
        {
          object: "error",
          message: { detail: [{ type: "missing", loc: ["body", "input"], msg: "Field required" }] },
          ...{ type: "invalid_request_error", param: null, code: null },
        },
      ],
    },
  },
  // The vendor has no JavaScript client. The shape is that of `@ai-sdk/xai` 5.0.12.
  "xai-speech": {
    source: { documentation: "https://docs.x.ai/developers/model-capabilities/audio/text-to-speech" },
    base: "/v1",
    model: "grok-tts",
    headers: bearer,
    accepts: {
      "/v1/tts": {
        body: strict(
          { text, language: text },
          {
            ...{ voice_id: text, optimize_streaming_latency: Type.Integer(), text_normalization: Type.Boolean() },
            speed: Type.Number({ minimum: 0.7, maximum: 1.5 }),
            output_format: strict(
              { codec: oneOf("mp3", "wav", "pcm", "mulaw", "alaw") },
              { sample_rate: oneOf(8000, 16_000, 22_050, 24_000, 44_100, 48_000), bit_rate: Type.Integer() },
            ),
          },
        ),
      },
    },
    examples: [
      {
        request: { ...speech, speed: 1.2 },
        path: "/v1/tts",
        body: {
          ...{ text: "Hi", language: "auto", voice_id: "Rachel", speed: 1.2 },
          output_format: { codec: "mp3", sample_rate: 24_000 },
        },
      },
    ],
    refusals: {
      key: [400, { code: "Client specified an invalid argument", error: "Incorrect API key provided: xa***id." }],
      credit: [
        403,
        {
          code: "The caller does not have permission to execute the specified operation",
          error: "Your newly created team doesn't have any credits or licenses yet.",
        },
      ],
      rate: [429, { code: "Some resource has been exhausted", error: "Too many requests" }],
      invalid: [400, { code: "Client specified an invalid argument", error: "Unknown codec" }],
    },
  },
  deepgram: {
    source: { documentation: "https://developers.deepgram.com/docs/errors", sdk: "@deepgram/sdk" },
    base: "/v1",
    model: "aura-2",
    headers: { authorization: "Token sk-1" },
    accepts: {
      "/v1/speak": {
        query: strict(
          {},
          {
            ...{ model: text, callback: text, sample_rate: text, bit_rate: text, tag: text, mip_opt_out: text },
            ...{ speed: Type.String({ pattern: "^\\d(\\.\\d+)?$" }), container: oneOf("none", "wav", "ogg") },
            encoding: oneOf("linear16", "flac", "mulaw", "alaw", "mp3", "opus", "aac"),
          },
        ),
        body: strict({ text }),
      },
    },
    examples: [
      { request: speech, path: "/v1/speak?model=Rachel&encoding=mp3", body: { text: "Hi" } },
      {
        request: { ...speech, format: "opus", speed: 1.2 },
        path: "/v1/speak?model=Rachel&encoding=opus&speed=1.2",
        body: { text: "Hi" },
      },
    ],
    refusals: {
      key: [
        401,
        { err_code: "INVALID_AUTH", err_msg: "Invalid credentials.", request_id: "r" } satisfies Deepgram.ErrorResponse,
      ],
      credit: [
        402,
        {
          err_code: "ASR_PAYMENT_REQUIRED",
          err_msg: "Project does not have enough credits for a request of this type.",
          request_id: "r",
        } satisfies Deepgram.ErrorResponse,
      ],
      rate: [
        429,
        {
          err_code: "TOO_MANY_REQUESTS",
          err_msg: "Too many requests. Please try again later",
          request_id: "r",
        } satisfies Deepgram.ErrorResponse,
      ],
      invalid: [
        400,
        {
          category: "INVALID_QUERY_PARAMETER",
          message: "Invalid query string.",
          details: "Unknown encoding.",
          request_id: "r",
        } satisfies Deepgram.ErrorResponse,
      ],
    },
  },
  hume: {
    source: { documentation: "https://dev.hume.ai/reference/text-to-speech-tts/synthesize-file", sdk: "hume" },
    base: "/v0",
    model: "octave",
    headers: { "x-hume-api-key": "sk-1" },
    accepts: {
      "/v0/tts/file": {
        body: strict(
          {
            utterances: Type.Array(
              strict(
                { text },
                {
                  ...{ description: text, trailing_silence: Type.Number() },
                  speed: Type.Number({ minimum: 0.5, maximum: 2 }),
                  voice: Type.Union([
                    strict({ name: text }, { provider: oneOf("HUME_AI", "CUSTOM_VOICE") }),
                    strict({ id: text }, { provider: oneOf("HUME_AI", "CUSTOM_VOICE") }),
                  ]),
                },
              ),
              { minItems: 1 },
            ),
          },
          {
            ...{ context: Type.Unknown(), num_generations: Type.Integer(), split_utterances: Type.Boolean() },
            ...{ strip_headers: Type.Boolean(), temperature: Type.Number(), version: oneOf("1", "2") },
            format: strict({ type: oneOf("mp3", "wav", "pcm") }),
          },
        ),
      },
    },
    examples: [
      {
        request: { ...speech, speed: 1.5, options: { instructions: "Whisper." } },
        path: "/v0/tts/file",
        body: {
          utterances: [
            { text: "Hi", voice: { name: "Rachel", provider: "HUME_AI" }, speed: 1.5, description: "Whisper." },
          ],
          format: { type: "mp3" },
        } satisfies Hume.tts.PostedTts,
      },
    ],
    refusals: {
      key: [401, { fault: { faultstring: "Invalid ApiKey", detail: { errorcode: "oauth.v2.InvalidApiKey" } } }],
      credit: [402, { code: "E0300", message: "Out of credits" } satisfies Hume.tts.ErrorResponse],
      rate: [429, { message: "Rate limit exceeded" } satisfies Hume.tts.ErrorResponse],
      invalid: [
        422,
        {
          detail: [{ loc: ["body", "utterances"], msg: "too short", type: "too_short" }],
        } satisfies Hume.tts.HttpValidationError,
      ],
    },
  },
  lmnt: {
    source: { documentation: "https://docs.lmnt.com/api-reference/speech/synthesize-speech-bytes", sdk: "lmnt-node" },
    base: "/v1",
    model: "blizzard",
    headers: { "x-api-key": "sk-1" },
    accepts: {
      "/v1/ai/speech/bytes": {
        body: strict(
          { text, voice: text },
          {
            ...{ debug: Type.Boolean(), language: text, temperature: Type.Number(), top_p: Type.Number() },
            model: oneOf("blizzard"),
            format: oneOf("aac", "mp3", "ulaw", "wav", "webm", "pcm_s16le", "pcm_f32le"),
            sample_rate: oneOf(8000, 16_000, 24_000),
          },
        ),
      },
    },
    examples: [
      {
        request: { ...speech, format: "wav" },
        path: "/v1/ai/speech/bytes",
        body: {
          model: "blizzard",
          text: "Hi",
          voice: "Rachel",
          format: "wav",
          sample_rate: 24_000,
        } satisfies Lmnt.SpeechGenerateParams,
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
