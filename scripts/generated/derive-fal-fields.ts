import type { FieldRule, FieldRules } from "../../src/providers/route-terms.ts";
import type { FalEndpoint, FalProperty } from "./read-fal-types.ts";

export type FalType = "image" | "video" | "avatar";

/** fal's names of sizes, with the sizes that its documentation gives them. */
const sizeNames: Readonly<Record<string, string>> = {
  "1024x1024": "square_hd",
  "512x512": "square",
  "768x1024": "portrait_4_3",
  "576x1024": "portrait_16_9",
  "1024x768": "landscape_4_3",
  "1024x576": "landscape_16_9",
};

/** The same names as aspect ratios. */
const ratioNames: Readonly<Record<string, string>> = {
  "16:9": "landscape_16_9",
  "9:16": "portrait_16_9",
  "4:3": "landscape_4_3",
  "3:4": "portrait_4_3",
  "1:1": "square_hd",
  auto: "auto",
};

/** For endpoints without sizes: a size of each ratio, as other vendors' kinds have it. */
const ratiosBySize: Readonly<Record<string, string>> = {
  "1024x1024": "1:1",
  "1344x768": "16:9",
  "768x1344": "9:16",
  "1152x864": "4:3",
  "864x1152": "3:4",
  "1248x832": "3:2",
  "832x1248": "2:3",
};

/** What an endpoint makes of a request with our fields; `null` if it makes something else, or needs a video. */
export function findFalType({ input, output }: FalEndpoint): FalType | null {
  const isVideo = output.includes("video") || output.includes("videos");
  if (isVideo && "audio_url" in input && ("image_url" in input || "video_url" in input)) return "avatar";
  if (input.video_url?.isRequired === true) return null;
  if (isVideo) return "video";
  return output.includes("images") || output.includes("image") ? "image" : null;
}

/** The rules of an endpoint's fields. A field that it lacks has no rule, so that a request with it is refused. */
export function deriveFalFields({ input }: FalEndpoint, type: FalType): FieldRules {
  const shared = {
    prompt: writeText(input, "prompt"),
    resolution: writeChoice(input, "resolution"),
    seed: writeOf(input, "number", "seed"),
  };
  const looks = {
    input_images: deriveImages(input),
    quality: writeChoice(input, "quality", "video_quality"),
    style: writeChoice(input, "style"),
    negative_prompt: writeText(input, "negative_prompt"),
  };
  switch (type) {
    case "image":
      return present({
        ...{ ...shared, ...looks },
        n: writeOf(input, "number", "num_images", "n") ?? { only: [1] },
        ...deriveSize(input),
        background: writeChoice(input, "background"),
        input_fidelity: writeChoice(input, "input_fidelity"),
      });
    case "video":
      return present({
        ...{ ...shared, ...looks },
        last_image: writeOf(input, "string", "end_image_url", "tail_image_url", "last_frame_url", "last_image_url"),
        duration: deriveDuration(input),
        aspect_ratio: deriveRatio(input),
        frame_rate: writeNumber(input, "frames_per_second", "fps", "frame_rate"),
        audio: writeOf(input, "boolean", "generate_audio", "generate_audio_switch", "enable_audio"),
      });
    case "avatar":
      return present({
        ...shared,
        avatar_image: writeOf(input, "string", "image_url"),
        avatar_video: writeOf(input, "string", "video_url"),
        audio_file: writeOf(input, "string", "audio_url"),
        aspect_ratio: deriveRatio(input),
      });
  }
}

type Input = FalEndpoint["input"];
type Derived = Readonly<Record<string, FieldRule | null | undefined>>;

function present(rules: Derived): FieldRules {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([name, rule]) => (rule === null || rule === undefined ? [] : [[name, rule]])),
  );
}

function find(input: Input, names: readonly string[]): { name: string; property: FalProperty } | null {
  for (const name of names) {
    const property = input[name];
    if (property !== undefined) return { name, property };
  }
  return null;
}

/** The first of the names whose property takes values of this type. */
function writeOf(input: Input, type: string, ...names: string[]): string | null {
  return names.find((name) => input[name]?.members.includes(type) === true) ?? null;
}

function writeText(input: Input, name: string): string | null {
  return writeOf(input, "string", name);
}

/** An endpoint with a field for one image and another for several uses them differently: the former is meant. */
function deriveImages(input: Input): FieldRule | null {
  const names = ["image_url", "start_image_url", "first_frame_url", "first_image_url", "input_image_url"];
  const field = writeOf(input, "string", ...names);
  if (field !== null) return { field, as: "first" };
  return writeOf(input, "Array<string>", "image_urls", "input_image_urls", "reference_image_urls");
}

/** The words of a union of literals; `null` for other types. */
function listWords({ members }: FalProperty): string[] | null {
  const words = members.flatMap((member) => (member.startsWith('"') ? [JSON.parse(member) as string] : []));
  return words.length === members.length ? words : null;
}

function writeChoice(input: Input, ...names: string[]): FieldRule | null {
  const found = find(input, names);
  if (found === null) return null;
  const words = listWords(found.property);
  if (words !== null) return { field: found.name, only: words };
  return found.property.members.includes("string") ? found.name : null;
}

/** A number, or one of some numbers written as text. */
function writeNumber(input: Input, ...names: string[]): FieldRule | null {
  const found = find(input, names);
  if (found === null) return null;
  const { name, property } = found;
  if (property.members.includes("number")) return name;
  const numbers = (listWords(property) ?? []).filter((word) => /^\d+$/.test(word)).map(Number);
  return numbers.length === 0 ? null : { field: name, as: "text", only: numbers };
}

function deriveDuration(input: Input): FieldRule | null {
  const { duration, num_frames: frames } = input;
  if (duration === undefined) {
    const rate = find(input, ["frames_per_second", "fps", "frame_rate"])?.property.default;
    const seconds = Math.round(Number(frames?.default) / Number(rate));
    return seconds > 0 ? { only: [seconds] } : null;
  }
  const words = listWords(duration) ?? [];
  const withUnit = words.filter((word) => /^\d+s$/.test(word)).map((word) => Number.parseInt(word, 10));
  if (withUnit.length > 0) return { field: "duration", as: "seconds", only: withUnit };
  if (duration.members.every((member) => /^\d+$/.test(member))) {
    return { field: "duration", only: duration.members.map(Number) };
  }
  return (
    writeNumber(input, "duration") ?? (duration.members.includes("string") ? { field: "duration", as: "text" } : null)
  );
}

function deriveRatio(input: Input): FieldRule {
  const { aspect_ratio: ratio, video_size: size } = input;
  if (ratio !== undefined) return writeChoice(input, "aspect_ratio") ?? { only: ["auto"] };
  const values = Object.entries(ratioNames).filter(([, name]) => size?.members.includes(`"${name}"`) === true);
  // Without a field, the video has the shape of its image, or the only one that the endpoint makes.
  return values.length === 0 ? { only: ["auto"] } : { field: "video_size", values: Object.fromEntries(values) };
}

function deriveSize(input: Input): Derived {
  const { image_size: size, aspect_ratio: ratio } = input;
  if (size !== undefined) {
    if (size.members.includes("ImageSize")) return { size: { field: "image_size", as: "object" } };
    const words = listWords(size) ?? [];
    const pixels = words.filter((word) => /^\d+x\d+$/.test(word));
    if (pixels.length > 0) return { size: { field: "image_size", only: pixels } };
    return { size: mapWords("image_size", sizeNames, words) };
  }
  if (writeOf(input, "number", "width") !== null && writeOf(input, "number", "height") !== null) {
    return { width: "width", height: "height" };
  }
  return { size: ratio === undefined ? null : mapWords("aspect_ratio", ratiosBySize, listWords(ratio) ?? []) };
}

function mapWords(field: string, names: Readonly<Record<string, string>>, words: readonly string[]): FieldRule | null {
  const values = Object.fromEntries(Object.entries(names).filter(([, word]) => words.includes(word)));
  return Object.keys(values).length === 0 ? null : { field, values };
}
