import { type Static, Type } from "typebox";
import { timestampKinds } from "../../providers/transcription.ts";

/** OpenAI's values of `response_format`. */
const plainFormats = ["json", "text", "srt", "verbose_json", "vtt"] as const;
const transcriptFormats = [...plainFormats, "diarized_json"] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

const closed = { additionalProperties: false };

const commonFields = {
  model: Type.String({ minLength: 1, description: "The id of a transcription model." }),
  prompt: Type.Optional(
    Type.String({ description: "Names and words that occur in the recording, or the text that precedes it." }),
  ),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};

const voiceDetectionSchema = Type.Object(
  {
    type: Type.Literal("server_vad"),
    prefix_padding_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
    silence_duration_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
    threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  closed,
);

/** The fields beside the file, after `readTranscriptionForm` has converted them from text. */
export const transcriptionFieldsSchema = Type.Object(
  {
    ...commonFields,
    language: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$",
        description: "The spoken language: `en`, `de`, `ja`.",
      }),
    ),
    response_format: Type.Optional(
      Type.Enum([...transcriptFormats], {
        description:
          "Defaults to `json`. `verbose_json`, `srt` and `vtt` need a model with `timestamps`, `diarized_json` one with `diarization`.",
      }),
    ),
    timestamp_granularities: Type.Optional(
      Type.Array(Type.Enum([...timestampKinds]), { maxItems: 2, description: "Only with `verbose_json`." }),
    ),
    include: Type.Optional(Type.Array(Type.Enum(["logprobs"]), { maxItems: 1, description: "Only with `json`." })),
    stream: Type.Optional(Type.Boolean({ description: "Streams the transcript as server-sent events." })),
    chunking_strategy: Type.Optional(Type.Union([Type.Literal("auto"), voiceDetectionSchema])),
  },
  closed,
);

export const translationFieldsSchema = Type.Object(
  { ...commonFields, response_format: Type.Optional(Type.Enum([...plainFormats])) },
  closed,
);

export type TranscriptionFields = Static<typeof transcriptionFieldsSchema>;

const file = Type.String({
  format: "binary",
  description: "Audio, or video with sound: MP3, WAV, M4A, OGG, FLAC, MP4, WebM or MOV.",
});

/** For the API reference. */
export const transcriptionBodySchema = Type.Object({ file, ...transcriptionFieldsSchema.properties }, closed);
export const translationBodySchema = Type.Object({ file, ...translationFieldsSchema.properties }, closed);

const charge = Type.String({ pattern: "^\\d+\\.\\d{2,9}$", description: "The cost of the call." });

const usageSchema = Type.Union(
  [
    Type.Object({
      type: Type.Literal("duration"),
      seconds: Type.Integer({ description: "The length of the recording in seconds, rounded up." }),
      charge,
    }),
    Type.Object({
      type: Type.Literal("tokens"),
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
      input_token_details: Type.Object({ audio_tokens: Type.Integer(), text_tokens: Type.Integer() }),
      charge,
    }),
  ],
  { description: "`duration` if the model is priced by time or by call, `tokens` if it is priced by tokens." },
);

const second = Type.Number({ description: "Seconds from the start of the recording." });

const segmentSchema = Type.Union([
  Type.Object({
    id: Type.Integer(),
    seek: Type.Number(),
    start: second,
    end: second,
    text: Type.String(),
    tokens: Type.Array(Type.Number()),
    temperature: Type.Number(),
    avg_logprob: Type.Number(),
    compression_ratio: Type.Number(),
    no_speech_prob: Type.Number(),
  }),
  Type.Object({
    type: Type.Literal("transcript.text.segment"),
    id: Type.String(),
    start: second,
    end: second,
    text: Type.String(),
    speaker: Type.String(),
  }),
]);

/** Covers every `response_format` that is JSON. */
export const transcriptSchema = Type.Object(
  {
    text: Type.String(),
    task: Type.Optional(Type.Enum(["transcribe", "translate"])),
    language: Type.Optional(Type.String()),
    duration: Type.Optional(Type.Number({ description: "The length of the recording in seconds." })),
    segments: Type.Optional(Type.Array(segmentSchema)),
    words: Type.Optional(Type.Array(Type.Object({ word: Type.String(), start: second, end: second }))),
    logprobs: Type.Optional(
      Type.Array(Type.Object({ token: Type.String(), logprob: Type.Number(), bytes: Type.Array(Type.Integer()) })),
    ),
    usage: usageSchema,
  },
  { description: "The transcript. `text`, `srt` and `vtt` return plain text; `stream` returns server-sent events." },
);
