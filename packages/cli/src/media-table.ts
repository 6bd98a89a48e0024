import type { OptionTable } from "./command-definition.ts";

/** How an option becomes a field of the request. */
export type FieldRule = {
  field: string;
  /** `text` may be `@file` or `-`; `file` and `files` are uploaded unless they are URLs or ids. */
  takes: "words" | "text" | "integer" | "number" | "switch" | "file" | "files" | "characters" | "references" | "pairs";
  placeholder?: string;
  explains: string;
  choices?: readonly string[];
};

export type MediaDefinition = {
  type: "image" | "video" | "avatar" | "drama" | "speech";
  path: string;
  summary: string;
  /** The request field that the positional arguments fill. */
  words: { field: string; shown: string; isRequired: boolean } | null;
  fields: Readonly<Record<string, FieldRule>>;
  examples: readonly { line: string; does: string }[];
};

const aspectRatio: FieldRule = {
  field: "aspect_ratio",
  takes: "words",
  placeholder: "w:h",
  explains: "The aspect ratio, such as 16:9. Default: the model's first.",
};
const input: FieldRule = {
  field: "input_images",
  takes: "files",
  placeholder: "file",
  explains: "An input image: a file, an https URL or the id of an uploaded file.",
};

/** Accepted by all types. */
const commonFields: Readonly<Record<string, FieldRule>> = {
  "callback-url": {
    field: "callback_url",
    takes: "words",
    placeholder: "url",
    explains: "A URL to notify when the task ends, in addition to the webhooks.",
  },
  metadata: {
    field: "metadata",
    takes: "pairs",
    placeholder: "name=text",
    explains: "Your own metadata, stored with the task.",
  },
  "expires-after": {
    field: "expires_after",
    takes: "integer",
    placeholder: "seconds",
    explains: "The deadline. An expired task is not charged. Each type has a minimum.",
  },
};

export const mediaTable: readonly MediaDefinition[] = [
  {
    type: "image",
    path: "/images/generations",
    summary: "Create images.",
    words: { field: "prompt", shown: "<prompt…>", isRequired: true },
    fields: {
      size: {
        field: "size",
        takes: "words",
        placeholder: "wxh",
        explains: "A size that the model supports, such as 1024x1024.",
      },
      n: { field: "n", takes: "integer", placeholder: "count", explains: "Number of images." },
      input,
      ...commonFields,
    },
    examples: [
      { line: 'sluice image "A lighthouse at dusk" --size 1024x1024', does: "one image" },
      { line: 'sluice image "The same at night" --input lighthouse.png', does: "from your own image" },
    ],
  },
  {
    type: "video",
    path: "/videos/generations",
    summary: "Create a video.",
    words: { field: "prompt", shown: "[prompt…]", isRequired: false },
    fields: {
      duration: {
        field: "duration",
        takes: "integer",
        placeholder: "seconds",
        explains: "A duration that the model supports.",
      },
      "aspect-ratio": aspectRatio,
      input,
      ...commonFields,
    },
    examples: [
      { line: 'sluice video "Waves at night" --duration 5 --aspect-ratio 16:9', does: "from text" },
      { line: 'sluice video "The camera moves closer" --input first.png -o waves.mp4', does: "from an image" },
    ],
  },
  {
    type: "avatar",
    path: "/avatars/generations",
    summary: "Create an avatar video.",
    words: null,
    fields: {
      person: {
        field: "avatar_file_id",
        takes: "file",
        placeholder: "file",
        explains: "An image or a video of the speaker (required).",
      },
      audio: { field: "audio_file_id", takes: "file", placeholder: "file", explains: "The speech (required)." },
      "aspect-ratio": aspectRatio,
      ...commonFields,
    },
    examples: [{ line: "sluice avatar --person anna.png --audio hello.mp3", does: "from a face and a voice" }],
  },
  {
    type: "drama",
    path: "/dramas/generations",
    summary: "Create a drama from a story: script, roles, storyboard, video.",
    words: null,
    fields: {
      title: { field: "title", takes: "words", placeholder: "text", explains: "The title on the title card." },
      script: {
        field: "script",
        takes: "text",
        placeholder: "@file",
        explains: "A story, a screenplay, or the document of an earlier stage: @file, - or the text itself.",
      },
      stage: {
        field: "stage",
        takes: "words",
        placeholder: "stage",
        choices: ["script", "roles", "storyboard", "video"],
        explains: "The last stage to run. Default: video.",
      },
      character: { field: "characters", takes: "characters", placeholder: "name", explains: "A character's name." },
      reference: {
        field: "characters",
        takes: "references",
        placeholder: "name=file",
        explains: "A character's name and reference image.",
      },
      episode: { field: "episode", takes: "integer", placeholder: "number", explains: "The episode number." },
      "aspect-ratio": aspectRatio,
      style: { field: "style", takes: "words", placeholder: "text", explains: "The look of all shots." },
      seed: { field: "seed", takes: "integer", placeholder: "number", explains: "One seed for all images and clips." },
      subtitles: {
        field: "subtitles",
        takes: "words",
        placeholder: "how",
        choices: ["burned", "track", "none"],
        explains: "Captions in the video, a text track, or neither. Default: burned.",
      },
      "business-id": {
        field: "client_business_id",
        takes: "words",
        placeholder: "id",
        explains: "Your own id for this drama. Repeating the request with the same id always returns the same task.",
      },
      "from-task": {
        field: "from_task_id",
        takes: "words",
        placeholder: "id",
        explains: "The task of an earlier drama to continue from.",
      },
      "allow-partial": {
        field: "allow_partial",
        takes: "switch",
        explains: "Allow a video without the shots that failed.",
      },
      ...commonFields,
    },
    examples: [
      { line: 'sluice drama --title "The Lighthouse" --script @story.txt --reference Anna=anna.png', does: "a video" },
      { line: 'sluice drama --title "The Lighthouse" --script @story.txt --stage script', does: "the script only" },
      { line: "sluice drama --from-task task_01kh… --stage video", does: "continue an earlier drama" },
    ],
  },
  {
    type: "speech",
    path: "/audio/speech",
    summary: "Create speech from text.",
    words: { field: "input", shown: "<text…>", isRequired: true },
    fields: {
      voice: {
        field: "voice",
        takes: "words",
        placeholder: "voice",
        explains: "The voice. Default: the model's first.",
      },
      format: {
        field: "response_format",
        takes: "words",
        placeholder: "format",
        choices: ["mp3", "wav", "pcm"],
        explains: "The audio format. Default: mp3.",
      },
      speed: { field: "speed", takes: "number", placeholder: "factor", explains: "From 0.25 to 4. Default: 1." },
      ...commonFields,
    },
    examples: [
      { line: 'sluice speech "Hello, world." --voice nova -o hello.mp3', does: "a sentence" },
      { line: "sluice speech @chapter.txt --format wav", does: "a file" },
      { line: 'sluice speech "Hello" -o - | aplay', does: "straight into a player (with --format wav)" },
    ],
  },
];

/** Options for waiting and saving; they are not part of the request. */
export const outcomeOptions: OptionTable = {
  wait: { explains: "Wait for the result and download it. Default on a terminal." },
  "no-wait": { explains: "Print the task's id and exit. Default without a terminal." },
  output: {
    placeholder: "path",
    short: "o",
    explains: "The destination: a file, a folder, or - for standard output. Default: the current folder.",
  },
  force: { short: "f", explains: "Overwrite existing files." },
};
