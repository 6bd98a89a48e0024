import { ProviderError } from "../contract.ts";
import type { GenerationInput, GenerationRequest } from "../generation.ts";
import { addressInputs } from "../inline-media.ts";

/** In total: whole videos inside requests would soon fill the queue. */
const inlineBytesMax = 20 * 1024 * 1024;

type PlacedInput = GenerationInput & { address: string };

/** The input of a model, in the field names that most of fal's models use. Models ignore fields they do not know. */
export async function buildFalInput(
  request: GenerationRequest,
  inputs: readonly GenerationInput[],
): Promise<Record<string, unknown>> {
  const addresses = await addressInputs(inputs, { bytesMax: inlineBytesMax });
  const placed = inputs.map((input, index) => ({ ...input, address: addresses[index] ?? "" }));
  const images = placed.filter(({ role }) => role === "image").map(({ address }) => address);
  switch (request.type) {
    case "image":
      return {
        ...presentPrompt(request.prompt),
        image_size: { width: request.width, height: request.height },
        num_images: request.count,
        ...presentImages(images),
      };
    case "video":
      return {
        ...presentPrompt(request.prompt),
        // Most models list their durations as strings without a unit.
        duration: String(request.durationSeconds),
        aspect_ratio: request.aspectRatio,
        ...presentImages(images),
      };
    case "avatar":
      return { ...presentPerson(placed), aspect_ratio: request.aspectRatio };
    case "speech":
      throw new ProviderError("rejected", "This upstream does not serve speech.");
  }
}

function presentPrompt(prompt: string): Record<string, string> {
  return prompt === "" ? {} : { prompt };
}

/** Models that start from one image call it `image_url`, those with several `image_urls`. */
function presentImages(images: readonly string[]): Record<string, unknown> {
  const [first] = images;
  if (first === undefined) return {};
  return images.length === 1 ? { image_url: first, image_urls: images } : { image_urls: images };
}

function presentPerson(inputs: readonly PlacedInput[]): Record<string, string> {
  const person = inputs.find(({ role }) => role === "person");
  const audio = inputs.find(({ role }) => role === "audio");
  if (person === undefined || audio === undefined) {
    throw new ProviderError("rejected", "An avatar requires a person and a voice.");
  }
  const field = person.contentType.startsWith("video/") ? "video_url" : "image_url";
  return { [field]: person.address, audio_url: audio.address };
}
