import { Type } from "typebox";
import { address, bearer, film, oneOf, picture, pixels, type QueueWire, strict, text, webUrl } from "./queue-wire.ts";

const shown = { type: oneOf("image_url"), image_url: strict({ url: address }) };
const references = Type.Array(strict(shown), { minItems: 1 });
const seed = Type.Integer();

/** The shapes are those of `@openrouter/sdk` 1.3.19, which is larger than what uses it here. */
export const openrouterMediaWire: QueueWire = {
  source: { documentation: "https://openrouter.ai/docs/client-sdks/typescript/sdks/images/README" },
  base: "/api/v1",
  model: "google/veo-3.1",
  headers: bearer,
  accepts: {
    "/api/v1/videos": strict(
      { model: text },
      {
        ...{ prompt: text, seed, callback_url: webUrl, duration: Type.Integer({ minimum: 1 }), size: text, user: text },
        aspect_ratio: oneOf("16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"),
        resolution: oneOf("480p", "720p", "768p", "1080p", "1K", "2K", "4K"),
        generate_audio: Type.Boolean(),
        frame_images: Type.Array(strict({ ...shown, frame_type: oneOf("first_frame", "last_frame") }), { minItems: 1 }),
        input_references: references,
        provider: Type.Unknown(),
      },
    ),
    "/api/v1/images": strict(
      { model: text, prompt: text },
      {
        ...{ seed, n: Type.Integer({ minimum: 1, maximum: 10 }), user: text, stream: Type.Boolean() },
        size: Type.String({ pattern: "^(\\d+x\\d+|[24]K)$" }),
        resolution: oneOf("512", "1K", "2K", "4K"),
        quality: oneOf("auto", "low", "medium", "high", "xhigh", "max"),
        background: oneOf("auto", "transparent", "opaque"),
        output_format: oneOf("png", "jpeg", "webp", "svg"),
        output_compression: Type.Integer(),
        input_references: references,
        provider: Type.Unknown(),
      },
    ),
  },
  examples: [
    {
      request: { ...film, options: { resolution: "1080p", audio: false, seed: 7 } },
      inputs: ["image", "last-image"],
      path: "/api/v1/videos",
      body: {
        ...{ model: "google/veo-3.1", prompt: "Waves", duration: 5, aspect_ratio: "16:9" },
        ...{ resolution: "1080p", generate_audio: false, seed: 7 },
        frame_images: [
          { type: "image_url", image_url: { url: pixels }, frame_type: "first_frame" },
          { type: "image_url", image_url: { url: pixels }, frame_type: "last_frame" },
        ],
      },
    },
    {
      request: film,
      inputs: ["image", "image"],
      path: "/api/v1/videos",
      body: {
        ...{ model: "google/veo-3.1", prompt: "Waves", duration: 5, aspect_ratio: "16:9" },
        input_references: [
          { type: "image_url", image_url: { url: pixels } },
          { type: "image_url", image_url: { url: pixels } },
        ],
      },
    },
    {
      model: "bytedance-seed/seedream-4.5",
      request: { ...picture, count: 2, options: { seed: 7, quality: "high", background: "opaque" } },
      inputs: ["image"],
      path: "/api/v1/images",
      body: {
        ...{ model: "bytedance-seed/seedream-4.5", prompt: "A barn", n: 2, size: "1024x1024" },
        ...{ seed: 7, quality: "high", background: "opaque" },
        input_references: [{ type: "image_url", image_url: { url: pixels } }],
      },
      reply: {
        done: { created: 1, data: [{ b64_json: "{bytes}", media_type: "image/png" }], usage: { cost: 0.04 } },
        refused: {
          error: {
            code: 403,
            message: "The model requires moderation. Your input was flagged.",
            metadata: { reasons: ["violence"], flagged_input: "what the customer wrote" },
          },
        },
      },
    },
  ],
  accepted: { id: "job-1", polling_url: "/api/v1/videos/job-1", status: "pending" },
  pollPath: "/api/v1/videos/job-1",
  keyPath: "/api/v1/key",
  states: {
    queued: { id: "job-1", polling_url: "/api/v1/videos/job-1", status: "pending" },
    running: { id: "job-1", polling_url: "/api/v1/videos/job-1", status: "in_progress" },
    odd: { id: "job-1", polling_url: "/api/v1/videos/job-1", status: "rendering" },
    done: { id: "job-1", status: "completed", unsigned_urls: ["{url}"], usage: { cost: 0.5, is_byok: false } },
    failed: { id: "job-1", status: "failed", error: "The provider failed to generate a video." },
    refused: { id: "job-1", status: "failed", error: "The request was flagged by the provider's content policy." },
    canceled: { id: "job-1", status: "cancelled" },
  },
  refusals: {
    key: [401, { error: { message: "No auth credentials found", code: 401 } }],
    credit: [402, { error: { message: "Insufficient credits.", code: 402 } }],
    rate: [429, { error: { message: "Provider returned error", code: 429, metadata: { raw: "rate-limited" } } }],
    invalid: [400, { error: { message: "Invalid aspect_ratio", code: 400 } }],
    content: [403, { error: { message: "It requires moderation. Your input was flagged for violence.", code: 403 } }],
    model: [404, { error: { message: "No endpoints found for acme/absent.", code: 404 } }],
  },
};
