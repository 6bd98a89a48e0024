import { ProviderError } from "../contract.ts";
import type { GenerationCall, GenerationRequest } from "../generation.ts";
import { addressInputs } from "../inline-media.ts";
import type { FieldRules } from "../route-terms.ts";
import { findFieldObstacle, listValues, writeFields } from "../write-media-fields.ts";

/** In total: whole videos inside requests would soon fill the queue. */
const inlineBytesMax = 20 * 1024 * 1024;

/** Models that start from one image call it `image_url`, those with several `image_urls`. */
const images = [{ field: "image_url", as: "sole" }, "image_urls"] as const;

/** The names that most of fal's models use. A model ignores fields that it does not know, so routes to others rename them. */
export const falFields: Partial<Record<GenerationRequest["type"], FieldRules>> = {
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

/** The input of a model. */
export async function buildFalInput({ request, inputs, route }: GenerationCall): Promise<Record<string, unknown>> {
  const addresses = await addressInputs(inputs, { bytesMax: inlineBytesMax });
  const placed = inputs.map(({ role, contentType }, index) => ({ role, contentType, address: addresses[index] ?? "" }));
  const values = listValues(request, placed);
  const rules = falFields[request.type] ?? {};
  const obstacle = findFieldObstacle(values, rules, route);
  if (obstacle !== null) throw new ProviderError("rejected", obstacle.message, { param: obstacle.param });
  return writeFields(values, rules, route);
}
