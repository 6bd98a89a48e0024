import { Type } from "typebox";
import { address, bearer, film, oneOf, picture, pixels, type QueueWire, strict, text } from "./queue-wire.ts";

const ratio = oneOf("1:1", "3:4", "4:3", "9:16", "16:9", "2:3", "3:2");
const shown = strict({ url: address }, { type: oneOf("image_url") });
const drawn = {
  ...{ n: Type.Integer({ minimum: 1, maximum: 10 }), user: text, aspect_ratio: ratio },
  response_format: oneOf("url", "b64_json"),
  resolution: oneOf("1k", "2k"),
  quality: oneOf("low", "medium", "high"),
};

/** The vendor has no JavaScript client. The shapes are those of `@ai-sdk/xai` 5.0.12. */
export const xaiMediaWire: QueueWire = {
  source: { documentation: "https://docs.x.ai/developers/model-capabilities/video/generation" },
  base: "/v1",
  model: "grok-imagine-video",
  headers: bearer,
  accepts: {
    "/v1/videos/generations": strict(
      { model: text, prompt: text },
      {
        ...{ duration: Type.Integer({ minimum: 1, maximum: 15 }), aspect_ratio: ratio, user: text, image: shown },
        resolution: oneOf("480p", "720p", "1080p"),
        reference_images: Type.Array(shown),
      },
    ),
    "/v1/images/generations": strict({ model: text, prompt: text }, drawn),
    "/v1/images/edits": strict(
      { model: text, prompt: text },
      { ...drawn, image: shown, images: Type.Array(shown, { minItems: 2 }) },
    ),
  },
  examples: [
    {
      request: { ...film, options: { resolution: "720p" } },
      inputs: ["image"],
      path: "/v1/videos/generations",
      body: {
        ...{ model: "grok-imagine-video", prompt: "Waves", duration: 5, aspect_ratio: "16:9", resolution: "720p" },
        image: { url: pixels },
      },
    },
    {
      model: "grok-imagine-image-pro",
      request: { ...picture, width: 1280, height: 720, options: { resolution: "2k", quality: "high" } },
      path: "/v1/images/generations",
      body: {
        ...{ model: "grok-imagine-image-pro", prompt: "A barn", n: 1, aspect_ratio: "16:9" },
        ...{ resolution: "2k", quality: "high", response_format: "b64_json" },
      },
      reply: {
        done: { data: [{ b64_json: "{bytes}", revised_prompt: "" }], usage: { cost_in_usd_ticks: 700_000_000 } },
        refused: { data: [{ b64_json: "", respect_moderation: false }] },
      },
    },
    {
      model: "grok-imagine-image",
      request: picture,
      inputs: ["image"],
      path: "/v1/images/edits",
      body: {
        ...{ model: "grok-imagine-image", prompt: "A barn", n: 1, aspect_ratio: "1:1", response_format: "b64_json" },
        image: { url: pixels, type: "image_url" },
      },
      reply: {
        done: { data: [{ b64_json: "{bytes}" }] },
        refused: { data: [{ b64_json: "", respect_moderation: false }] },
      },
    },
    {
      model: "grok-imagine-image",
      request: picture,
      inputs: ["image", "image"],
      path: "/v1/images/edits",
      body: {
        ...{ model: "grok-imagine-image", prompt: "A barn", n: 1, aspect_ratio: "1:1", response_format: "b64_json" },
        images: [
          { url: pixels, type: "image_url" },
          { url: pixels, type: "image_url" },
        ],
      },
      reply: {
        done: { data: [{ b64_json: "{bytes}" }] },
        refused: { data: [{ b64_json: "", respect_moderation: false }] },
      },
    },
  ],
  accepted: { request_id: "job-1" },
  pollPath: "/v1/videos/job-1",
  keyPath: "/v1/models",
  // There is one word for a job that waits or runs.
  isQueueHidden: true,
  states: {
    queued: { status: "pending" },
    running: { status: "pending", progress: 40 },
    odd: { status: "rendering" },
    done: {
      status: "done",
      video: { url: "{url}", duration: 5, respect_moderation: true },
      model: "grok-imagine-video",
      usage: { cost_in_usd_ticks: 2_500_000_000 },
    },
    failed: { status: "failed", error: { code: "internal_error", message: "The video could not be generated." } },
    refused: { status: "done", video: { respect_moderation: false } },
  },
  progress: 40,
  refusals: {
    key: [400, { code: "Client specified an invalid argument", error: "Incorrect API key provided: xa***id." }],
    credit: [
      403,
      {
        code: "The caller does not have permission to execute the specified operation",
        error: "Your newly created team doesn't have any credits or licenses yet.",
      },
    ],
    rate: [429, { code: "Some resource has been exhausted", error: "Too many requests" }],
    invalid: [400, { code: "Client specified an invalid argument", error: "Argument not supported: aspect_ratio" }],
    content: [
      403,
      {
        code: "The caller does not have permission to execute the specified operation",
        error: "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
      },
    ],
    model: [
      404,
      {
        code: "Some requested entity was not found",
        error: "The model grok-9 does not exist or your team has no access.",
      },
    ],
  },
};
