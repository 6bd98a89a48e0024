import type { OptionTable } from "./command-definition.ts";

/** How an option becomes a field of the request. */
export type FieldRule = {
  field: string;
  /** `text` may be `@file` or `-`; `file` and `files` are uploaded unless they are addresses or ids. */
  takes: "words" | "text" | "integer" | "number" | "switch" | "file" | "files" | "characters" | "references" | "pairs";
  placeholder?: string;
  explains: string;
  choices?: readonly string[];
};

export type MediaDefinition = {
  type: "image" | "video" | "avatar" | "drama" | "speech";
  path: string;
  summary: string;
  /** What the words after the command are. */
  words: { field: string; shown: string; isRequired: boolean } | null;
  fields: Readonly<Record<string, FieldRule>>;
  examples: readonly { line: string; does: string }[];
};

const aspectRatio: FieldRule = {
  field: "aspect_ratio",
  takes: "words",
  placeholder: "w:h",
  explains: "One that the model has, such as 16:9; its first unless told.",
};
const input: FieldRule = {
  field: "input_images",
  takes: "files",
  placeholder: "file",
  explains: "An image to start from: a file, an https address or the id of an uploaded file.",
};

/** What all of them take. */
const commonFields: Readonly<Record<string, FieldRule>> = {
  "callback-url": {
    field: "callback_url",
    takes: "words",
    placeholder: "url",
    explains: "Who is told when it has ended, beside the webhooks.",
  },
  metadata: {
    field: "metadata",
    takes: "pairs",
    placeholder: "name=text",
    explains: "Something of your own that the task keeps.",
  },
  "expires-after": {
    field: "expires_after",
    takes: "integer",
    placeholder: "seconds",
    explains: "The deadline: it expires then, at no charge. Each type has a minimum.",
  },
};

export const mediaTable: readonly MediaDefinition[] = [
  {
    type: "image",
    path: "/images/generations",
    summary: "Creates images.",
    words: { field: "prompt", shown: "<prompt…>", isRequired: true },
    fields: {
      size: {
        field: "size",
        takes: "words",
        placeholder: "wxh",
        explains: "One that the model has, such as 1024x1024.",
      },
      n: { field: "n", takes: "integer", placeholder: "count", explains: "Number of images." },
      input,
      ...commonFields,
    },
    examples: [
      { line: 'sluice image "A lighthouse at dusk" --size 1024x1024', does: "one image" },
      { line: 'sluice image "The same at night" --input lighthouse.png', does: "from an image of yours" },
    ],
  },
  {
    type: "video",
    path: "/videos/generations",
    summary: "Creates a video.",
    words: { field: "prompt", shown: "[prompt…]", isRequired: false },
    fields: {
      duration: {
        field: "duration",
        takes: "integer",
        placeholder: "seconds",
        explains: "A length that the model has.",
      },
      "aspect-ratio": aspectRatio,
      input,
      ...commonFields,
    },
    examples: [
      { line: 'sluice video "Waves at night" --duration 5 --aspect-ratio 16:9', does: "from words" },
      { line: 'sluice video "The camera moves closer" --input first.png -o waves.mp4', does: "from an image" },
    ],
  },
  {
    type: "avatar",
    path: "/avatars/generations",
    summary: "Creates an avatar video.",
    words: null,
    fields: {
      person: {
        field: "avatar_file_id",
        takes: "file",
        placeholder: "file",
        explains: "Who speaks: an image or a video (required).",
      },
      audio: { field: "audio_file_id", takes: "file", placeholder: "file", explains: "What they say (required)." },
      "aspect-ratio": aspectRatio,
      ...commonFields,
    },
    examples: [{ line: "sluice avatar --person anna.png --audio hello.mp3", does: "a face and a voice" }],
  },
  {
    type: "drama",
    path: "/dramas/generations",
    summary: "Creates a drama from a story: script, roles, storyboard, video.",
    words: null,
    fields: {
      title: { field: "title", takes: "words", placeholder: "text", explains: "As it stands on the title card." },
      script: {
        field: "script",
        takes: "text",
        placeholder: "@file",
        explains: "A story, a screenplay, or a document that an earlier stage made: @file, - or the text itself.",
      },
      stage: {
        field: "stage",
        takes: "words",
        placeholder: "stage",
        choices: ["script", "roles", "storyboard", "video"],
        explains: "Where it ends; with the video unless told.",
      },
      character: { field: "characters", takes: "characters", placeholder: "name", explains: "Somebody in it." },
      reference: {
        field: "characters",
        takes: "references",
        placeholder: "name=file",
        explains: "Somebody in it, and an image of them.",
      },
      episode: { field: "episode", takes: "integer", placeholder: "number", explains: "Which episode." },
      "aspect-ratio": aspectRatio,
      "business-id": {
        field: "client_business_id",
        takes: "words",
        placeholder: "id",
        explains: "What you call this piece of business: the same request is the same task, for ever.",
      },
      "from-task": {
        field: "from_task_id",
        takes: "words",
        placeholder: "id",
        explains: "An earlier drama that this one goes on from.",
      },
      "allow-partial": {
        field: "allow_partial",
        takes: "switch",
        explains: "The video may go without shots that could not be made.",
      },
      ...commonFields,
    },
    examples: [
      { line: 'sluice drama --title "The Lighthouse" --script @story.txt --reference Anna=anna.png', does: "a video" },
      { line: 'sluice drama --title "The Lighthouse" --script @story.txt --stage script', does: "its script only" },
      { line: "sluice drama --from-task task_01kh… --stage video", does: "on from what an earlier one made" },
    ],
  },
  {
    type: "speech",
    path: "/audio/speech",
    summary: "Creates speech from a text.",
    words: { field: "input", shown: "<text…>", isRequired: true },
    fields: {
      voice: {
        field: "voice",
        takes: "words",
        placeholder: "voice",
        explains: "Whose voice; the model's first unless told.",
      },
      format: {
        field: "response_format",
        takes: "words",
        placeholder: "format",
        choices: ["mp3", "wav", "pcm"],
        explains: "In which form; mp3 unless told.",
      },
      speed: { field: "speed", takes: "number", placeholder: "factor", explains: "From 0.25 to 4; 1 unless told." },
      ...commonFields,
    },
    examples: [
      { line: 'sluice speech "Hello, world." --voice nova -o hello.mp3', does: "a sentence" },
      { line: "sluice speech @chapter.txt --format wav", does: "a file" },
      { line: 'sluice speech "Hello" -o - | aplay', does: "straight into a player (with --format wav)" },
    ],
  },
];

/** What decides how the command behaves, beside what it asks for. */
export const outcomeOptions: OptionTable = {
  wait: { explains: "Waits for the result and downloads it; so it does on a terminal." },
  "no-wait": { explains: "Prints the task's id and ends; so it does elsewhere." },
  output: {
    placeholder: "path",
    short: "o",
    explains: "Where the result goes: a file, a folder, or - for standard output. This folder unless told.",
  },
  force: { short: "f", explains: "Overwrites files." },
};
