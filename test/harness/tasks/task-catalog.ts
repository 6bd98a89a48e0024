import { stringify } from "yaml";
import { upstreamKeyName } from "../chat/chat-catalog.ts";
import { canary, type FakeUpstreams } from "../upstreams/fake-upstreams.ts";

type Fields = Record<string, unknown>;

const keys = [`\${${upstreamKeyName}}`];
const pictures = {
  type: "image",
  capabilities: ["text_to_image", "image_to_image"],
  limits: { sizes: ["64x64", "128x64"], max_n: 4, max_input_images: 2, max_prompt_length: 1000 },
};
const films = {
  type: "video",
  capabilities: ["text_to_video", "image_to_video"],
  limits: { durations: [1, 5], aspect_ratios: ["16:9", "9:16"], max_input_images: 1, max_prompt_length: 1000 },
};
const avatars = {
  type: "avatar",
  capabilities: ["audio_driven_avatar"],
  limits: { durations: [60], aspect_ratios: ["9:16", "16:9"] },
};
const speech = {
  type: "speech",
  capabilities: ["text_to_speech"],
  limits: {
    ...{ voices: ["alloy", "nova"], response_formats: ["mp3", "wav", "pcm"], max_prompt_length: 100_000 },
    instructions: true,
  },
};

/**
 * The fal fake serves `image`, `video` and `avatar`, the synchronous OpenAI fake `prompt-image` and `speech`, and the
 * sandbox `sandbox-image`. More models, prices and providers may be given, and how many tasks the providers accept at a
 * time.
 */
export function writeTaskCatalog(
  upstream: FakeUpstreams,
  more: {
    models?: readonly Fields[];
    prices?: readonly Fields[];
    providers?: readonly Fields[];
    falFields?: Fields;
    openFields?: Fields;
  } = {},
): string {
  const route = (provider: string, model: string) => ({ provider, upstream_model: model });
  const models: Fields[] = [
    { id: "image", ...pictures, routes: [route("fal", `${canary}/flux/dev`)] },
    { id: "video", ...films, routes: [route("fal", `${canary}/film/pro`)] },
    { id: "avatar", ...avatars, routes: [route("fal", `${canary}/avatar/pro`)] },
    { id: "prompt-image", ...pictures, routes: [route("open", `${canary}-image`)] },
    { id: "speech", ...speech, routes: [route("open", `${canary}-tts`)] },
    { id: "sandbox-image", ...pictures, routes: [route("sandbox", "image")] },
    ...(more.models ?? []),
  ];
  return stringify({
    currency: "USD",
    providers: [
      { id: "fal", kind: "fal", base_url: upstream.falUrl, api_keys: keys, ...more.falFields },
      { id: "open", kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: keys, ...more.openFields },
      { id: "sandbox", kind: "sandbox" },
      ...(more.providers ?? []),
    ],
    models: models.map((model) => ({ name: String(model.id), ...model })),
    prices: [
      writeTaskPrice("image", "image", "0.04"),
      writeTaskPrice("prompt-image", "image", "0.05"),
      writeTaskPrice("sandbox-image", "image", "0.02"),
      writeTaskPrice("video", "second", "0.10"),
      writeTaskPrice("avatar", "second", "0.20"),
      writeTaskPrice("speech", "1K characters", "0.015"),
      ...(more.prices ?? []),
    ],
  });
}

export function writeTaskPrice(model: string, unit: "image" | "second" | "call" | "1K characters", price: string) {
  return { model, billing_type: unit === "second" ? "duration" : "per_call", unit, price };
}
