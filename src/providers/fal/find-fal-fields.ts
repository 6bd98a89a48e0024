import type { GenerationRequest } from "../generation.ts";
import type { FieldRules } from "../route-terms.ts";
import listed from "./fal-endpoints.json" with { type: "json" };

type FieldsByType = Partial<Record<GenerationRequest["type"], FieldRules>>;

const rules: readonly unknown[] = listed.rules;
const endpoints: ReadonlyMap<string, string | null> = new Map(Object.entries(listed.endpoints));

/** Models that start from one image call it `image_url`, those with several `image_urls`. */
const images = [{ field: "image_url", as: "sole" }, "image_urls"] as const;

/** The names that most of fal's models use, for endpoints that are not listed. */
export const falFields: FieldsByType = {
  image: {
    prompt: "prompt",
    n: "num_images",
    size: { field: "image_size", as: "object" },
    input_images: images,
    resolution: "resolution",
    quality: "quality",
    style: "style",
    background: "background",
    input_fidelity: "input_fidelity",
    seed: "seed",
    negative_prompt: "negative_prompt",
  },
  video: {
    prompt: "prompt",
    // Most models list their durations as strings without a unit.
    duration: { field: "duration", as: "text" },
    aspect_ratio: "aspect_ratio",
    input_images: images,
    last_image: "end_image_url",
    resolution: "resolution",
    quality: "quality",
    style: "style",
    frame_rate: "frames_per_second",
    audio: "generate_audio",
    seed: "seed",
    negative_prompt: "negative_prompt",
  },
  avatar: {
    avatar_image: "image_url",
    avatar_video: "video_url",
    audio_file: "audio_url",
    aspect_ratio: "aspect_ratio",
    resolution: "resolution",
    seed: "seed",
    prompt: "prompt",
  },
};

/**
 * The fields of an endpoint, by what it makes. fal ignores fields that an endpoint does not have, so those of the
 * endpoints in fal's published types are known here. An unknown endpoint gets the names that most have.
 */
export function findFalFields(upstreamModel: string): FieldsByType {
  const found = endpoints.get(upstreamModel);
  if (found === undefined) return falFields;
  const [type, number] = found?.split(" ") ?? [];
  return type === undefined ? {} : { [type]: rules[Number(number)] as FieldRules };
}
