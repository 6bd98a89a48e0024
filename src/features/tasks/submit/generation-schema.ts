import { type Static, Type } from "typebox";
import { audioFormats } from "../../../providers/generation.ts";
import { describeOptions } from "../../../providers/media-options.ts";
import type { TaskType } from "../task.ts";
import { deadlineSecondsMax, deadlineTable } from "../task-deadline.ts";
import { openAiImageFields } from "./openai-image-options.ts";

const closed = { additionalProperties: false } as const;
const promptCharactersMax = 100_000;
const inputImagesMax = 32;
const pairsMax = 16;

const model = Type.String({ minLength: 1, maxLength: 128, description: "An id from the model list." });
const prompt = Type.String({ minLength: 1, maxLength: promptCharactersMax, description: "What to generate." });
const inputImages = Type.Array(Type.String({ minLength: 1, maxLength: 8192 }), {
  minItems: 1,
  maxItems: inputImagesMax,
  description: "Input images: public HTTPS URLs or ids of uploaded files.",
});
const aspectRatio = Type.String({
  minLength: 1,
  maxLength: 16,
  description: "One of the model's `limits.aspect_ratios`. Default: the first.",
});
const fileId = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });

const sharedFields = {
  callback_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8192,
      description: "Receives the task's final event, in addition to your webhooks.",
    }),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String({ pattern: "^.{1,64}$" }), Type.String({ maxLength: 512 }), {
      maxProperties: pairsMax,
      additionalProperties: false,
      description: "Up to 16 key-value pairs of your own, returned with the task and its events.",
    }),
  ),
};

/**
 * The fields of every media endpoint. A short deadline would stop an upstream's work free of charge, so each type has a
 * minimum.
 */
export function commonFields(type: TaskType) {
  const { secondsMin, secondsUsual } = deadlineTable[type];
  return {
    ...sharedFields,
    expires_after: Type.Optional(
      Type.Integer({
        minimum: secondsMin,
        maximum: deadlineSecondsMax,
        description: `The task's deadline in seconds, from ${secondsMin} to ${deadlineSecondsMax}. Default: ${secondsUsual}. A task that has not ended by then expires at no charge.`,
      }),
    ),
  };
}

export const imageRequestSchema = Type.Object(
  {
    model,
    prompt,
    size: Type.Optional(
      Type.Union([
        Type.String({
          minLength: 1,
          maxLength: 16,
          description: "One of the model's `limits.sizes`, such as `1024x1024`, or `auto` for the first of them.",
        }),
        Type.Null(),
      ]),
    ),
    n: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 1, description: "Number of images, up to the model's `limits.max_n`." }),
        Type.Null(),
      ]),
    ),
    input_images: Type.Optional(inputImages),
    ...describeOptions("resolution", "seed", "negative_prompt"),
    ...openAiImageFields,
    ...commonFields("image"),
  },
  { ...closed, examples: [{ model: "sandbox-image", prompt: "A lighthouse at dusk", size: "1024x1024" }] },
);

export const videoRequestSchema = Type.Object(
  {
    model,
    prompt: Type.Optional(prompt),
    duration: Type.Optional(
      Type.Integer({ minimum: 1, description: "Seconds: one of the model's `limits.durations`." }),
    ),
    aspect_ratio: Type.Optional(aspectRatio),
    input_images: Type.Optional(inputImages),
    last_image: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 8192,
        description:
          "The last frame: a public HTTPS URL or the id of an uploaded file. Only for models whose `limits` have `last_image`.",
      }),
    ),
    ...describeOptions("resolution", "quality", "style", "frame_rate", "audio", "seed", "negative_prompt"),
    ...commonFields("video"),
  },
  { ...closed, examples: [{ model: "sandbox-video", prompt: "Waves at night", duration: 5, aspect_ratio: "16:9" }] },
);

export const avatarRequestSchema = Type.Object(
  {
    model,
    avatar_file_id: fileId("The person: an uploaded image or video."),
    audio_file_id: fileId("The speech: an uploaded recording."),
    aspect_ratio: Type.Optional(aspectRatio),
    ...describeOptions("resolution", "seed", "prompt"),
    ...commonFields("avatar"),
  },
  {
    ...closed,
    examples: [{ model: "sandbox-avatar", avatar_file_id: "file_…", audio_file_id: "file_…", aspect_ratio: "9:16" }],
  },
);

export const speechRequestSchema = Type.Object(
  {
    model,
    input: Type.String({ minLength: 1, maxLength: promptCharactersMax, description: "The text to speak." }),
    voice: Type.String({ minLength: 1, maxLength: 128, description: "One of the model's `limits.voices`." }),
    response_format: Type.Optional(Type.Enum([...audioFormats])),
    speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
    ...describeOptions("instructions"),
    stream_format: Type.Optional(
      Type.Enum(["audio", "sse"], { description: "`sse` sends the audio as events, in base64. Not for tasks." }),
    ),
    ...commonFields("speech"),
  },
  { ...closed, examples: [{ model: "sandbox-speech", input: "Hello, world.", voice: "alloy" }] },
);

export type ImageBody = Static<typeof imageRequestSchema>;
export type VideoBody = Static<typeof videoRequestSchema>;
export type AvatarBody = Static<typeof avatarRequestSchema>;
export type SpeechBody = Static<typeof speechRequestSchema>;
/** Without `model`, the endpoint finds it by `findModel`. */
export type CommonBody = Pick<ImageBody, "callback_url" | "metadata" | "expires_after"> & { model?: string };
