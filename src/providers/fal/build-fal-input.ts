import { ProviderError } from "../contract.ts";
import type { GenerationInput, GenerationRequest } from "../generation.ts";
import { addressInputs } from "../inline-media.ts";

/** Together; a queue that carries whole videos in its requests would soon be full. */
const inlineBytesMax = 20 * 1024 * 1024;

type PlacedInput = GenerationInput & { address: string };

/** The input of a model, in the names that most models of the vendor use. What a model does not know, it leaves alone. */
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
        // Most models list their durations as texts, without a unit.
        duration: String(request.durationSeconds),
        aspect_ratio: request.aspectRatio,
        ...presentImages(images),
      };
    case "avatar":
      return { ...presentPerson(placed), aspect_ratio: request.aspectRatio };
    case "speech":
      throw new ProviderError("rejected", "This upstream does not speak.");
  }
}

function presentPrompt(prompt: string): Record<string, string> {
  return prompt === "" ? {} : { prompt };
}

/** Models that start from one image call it `image_url`, those that take several `image_urls`. */
function presentImages(images: readonly string[]): Record<string, unknown> {
  const [first] = images;
  if (first === undefined) return {};
  return images.length === 1 ? { image_url: first, image_urls: images } : { image_urls: images };
}

function presentPerson(inputs: readonly PlacedInput[]): Record<string, string> {
  const person = inputs.find(({ role }) => role === "person");
  const audio = inputs.find(({ role }) => role === "audio");
  if (person === undefined || audio === undefined) {
    throw new ProviderError("rejected", "An avatar needs a person and a voice.");
  }
  const field = person.contentType.startsWith("video/") ? "video_url" : "image_url";
  return { [field]: person.address, audio_url: audio.address };
}
