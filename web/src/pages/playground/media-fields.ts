import type { ModelDetail } from "../../api/fetch-catalog.ts";
import type { SelectOption } from "../../design/select-field.tsx";

/** File kinds by field. The API checks the content; the browser only knows names and types. */
export type FileKind = "image" | "audio" | "person";

type Named = { name: string; label: string; hint?: string };
export type TextMedia = Named & { kind: "text"; rows: number; charactersMax: number | null; isRequired: boolean };
type ChoiceMedia = Named & {
  kind: "choice";
  options: SelectOption[];
  /** The type of the value in a request. */
  sends: "text" | "number" | "boolean";
  /** The default; else the first option. */
  usual?: string;
};
type NumberMedia = Named & { kind: "number"; min: number; max: number; usual: number; isWhole: boolean };
export type FilesMedia = Named & {
  kind: "files";
  takes: FileKind;
  countMax: number;
  isRequired: boolean;
  isList: boolean;
};
export type CharactersMedia = Named & { kind: "characters"; countMax: number };
export type MediaField = TextMedia | ChoiceMedia | NumberMedia | FilesMedia | CharactersMedia;

/** Types with visible or audible output. */
export type MediaType = Exclude<ModelDetail["type"], "chat" | "embedding" | "transcription">;

export const mediaPaths = {
  image: "/images/generations",
  video: "/videos/generations",
  avatar: "/avatars/generations",
  drama: "/dramas/generations",
  speech: "/audio/speech",
} as const satisfies Record<MediaType, string>;

/** Stages at which a drama can stop, with the capability each needs. */
export const dramaStages = [
  { stage: "script", capability: "script_generation", label: "Script" },
  { stage: "roles", capability: "role_analysis", label: "Roles" },
  { stage: "storyboard", capability: "storyboard", label: "Storyboard" },
  { stage: "video", capability: "drama_video", label: "Video" },
] as const;

const rolesMax = 12;

/** Form fields from the model's capabilities and limits. */
export function listMediaFields(model: Pick<ModelDetail, "type" | "capabilities" | "limits">): MediaField[] {
  switch (model.type) {
    case "image":
      return [
        text("prompt", "Prompt", { ...model, hint: "What the image shows." }),
        ...choice(
          "size",
          "Size",
          model.limits.sizes?.map((size) => [size, size.replace("x", " × ")]),
        ),
        ...count("n", "Number of images", model.limits.max_n),
        ...offeredOptions(model),
        ...inputImages(model, { from: "image_to_image", alone: "text_to_image" }),
      ];
    case "video": {
      const startsFromImages = model.capabilities.includes("image_to_video");
      return [
        text("prompt", "Prompt", { ...model, hint: "What happens in the video.", isRequired: !startsFromImages }),
        ...choice(
          "duration",
          "Duration",
          model.limits.durations?.map((seconds) => [seconds, `${seconds} seconds`]),
        ),
        ...aspectRatios(model),
        ...offeredOptions(model),
        ...inputImages(model, { from: "image_to_video", alone: "text_to_video" }),
      ];
    }
    case "avatar":
      return [
        files("avatar_file_id", "Person", { takes: "person", hint: "An image or video of the speaker." }),
        files("audio_file_id", "Voice", { takes: "audio", hint: "A recording of the speech." }),
        ...aspectRatios(model),
        ...offeredOptions(model),
      ];
    case "drama":
      return listDramaFields(model);
    case "speech":
      return listSpeechFields(model);
    case "chat":
    case "embedding":
    case "transcription":
      return [];
  }
}

type Model = Pick<ModelDetail, "capabilities" | "limits">;

function listDramaFields(model: Model): MediaField[] {
  const offered = dramaStages.filter(({ capability }) => model.capabilities.includes(capability));
  return [
    { kind: "text", name: "title", label: "Title", rows: 1, charactersMax: 200, isRequired: true },
    text("script", "Story or script", { ...model, rows: 8, hint: "A story, an outline or a finished screenplay." }),
    ...choice(
      "stage",
      "Stop after",
      offered.toReversed().map(({ stage, label }) => [stage, label]),
    ).map((field) => ({
      ...field,
      // Default to the storyboard: the video costs far more, and shots can be edited before.
      usual: "storyboard",
      hint: "Review the shots before you pay for the video.",
    })),
    ...aspectRatios(model),
    { kind: "characters", name: "characters", label: "Characters", countMax: rolesMax },
  ];
}

function listSpeechFields(model: Model): MediaField[] {
  const { voices, response_formats: formats } = model.limits;
  const voice: MediaField[] =
    voices === undefined
      ? [{ kind: "text", name: "voice", label: "Voice", rows: 1, charactersMax: 128, isRequired: true }]
      : choice(
          "voice",
          "Voice",
          voices.map((each) => [each, each]),
        );
  return [
    text("input", "Text", { ...model, rows: 5, hint: "The text to speak." }),
    ...voice,
    ...choice(
      "response_format",
      "Format",
      formats?.map((format) => [format, format.toUpperCase()]),
    ),
    { kind: "number", name: "speed", label: "Speed", min: 0.25, max: 4, usual: 1, isWhole: false },
    ...offeredOptions(model),
  ];
}

function text(
  name: string,
  label: string,
  { limits, rows = 4, hint, isRequired = true }: Model & { rows?: number; hint: string; isRequired?: boolean },
): TextMedia {
  return { kind: "text", name, label, rows, hint, isRequired, charactersMax: limits.max_prompt_length ?? null };
}

/** No options, no field. */
function choice(
  name: string,
  label: string,
  values: readonly (readonly [value: string | number | boolean, label: string])[] = [],
): ChoiceMedia[] {
  if (values.length === 0) return [];
  const options = values.map(([value, words]) => ({ value: String(value), label: words }));
  const type = typeof values[0]?.[0];
  return [{ kind: "choice", name, label, options, sends: type === "number" || type === "boolean" ? type : "text" }];
}

const listedOptions = {
  resolution: "Resolution",
  quality: "Quality",
  style: "Style",
  background: "Background",
  frame_rate: "Frames per second",
  audio: "Sound",
} as const;
const textOptions = { negative_prompt: "Leave out", prompt: "Acting", instructions: "How to speak" } as const;
const spoken: Readonly<Record<string, string>> = { true: "Yes", false: "No" };

/** The options that the model offers. */
function offeredOptions({ limits }: Model): MediaField[] {
  const listed = (Object.keys(listedOptions) as (keyof typeof listedOptions)[]).flatMap((name) =>
    choice(
      name,
      listedOptions[name],
      limits[name]?.map((value) => [value, spoken[String(value)] ?? String(value)]),
    ),
  );
  const texts = (Object.keys(textOptions) as (keyof typeof textOptions)[]).flatMap((name): MediaField[] =>
    limits[name] === undefined
      ? []
      : [{ kind: "text", name, label: textOptions[name], rows: 2, charactersMax: null, isRequired: false }],
  );
  return [...listed, ...texts];
}

function aspectRatios({ limits }: Model): ChoiceMedia[] {
  return choice(
    "aspect_ratio",
    "Aspect ratio",
    limits.aspect_ratios?.map((ratio) => [ratio, ratio]),
  );
}

function count(name: string, label: string, max = 1): NumberMedia[] {
  return max <= 1 ? [] : [{ kind: "number", name, label, min: 1, max, usual: 1, isWhole: true }];
}

function files(name: string, label: string, { takes, hint }: { takes: FileKind; hint: string }): FilesMedia {
  return { kind: "files", name, label, takes, hint, countMax: 1, isRequired: true, isList: false };
}

function inputImages(
  { capabilities, limits }: Model,
  { from, alone }: { from: ModelDetail["capabilities"][number]; alone: ModelDetail["capabilities"][number] },
): FilesMedia[] {
  if (!capabilities.includes(from)) return [];
  const countMax = limits.max_input_images ?? 1;
  return [
    {
      kind: "files",
      name: "input_images",
      label: countMax === 1 ? "Start image" : "Start images",
      takes: "image",
      countMax,
      isRequired: !capabilities.includes(alone),
      isList: true,
    },
  ];
}
