import { Type } from "typebox";
import { address, bearer, oneOf, picture, pixels, type QueueWire, seed, strict, text, webUrl } from "./queue-wire.ts";

const model = "accounts/fireworks/models/flux-kontext-pro";

/** The vendor has no JavaScript client for images. The shapes are those of `@ai-sdk/fireworks` 3.0.62, and of its maker's API. */
export const fireworksWire: QueueWire = {
  source: { documentation: "https://ai-sdk.dev/v4/providers/ai-sdk-providers/fireworks" },
  base: "/inference/v1",
  model,
  headers: bearer,
  accepts: {
    [`/inference/v1/workflows/${model}`]: strict(
      { prompt: text },
      {
        ...{ seed, input_image: address, webhook_url: webUrl, webhook_secret: text },
        aspect_ratio: oneOf("1:1", "2:3", "3:2", "4:5", "5:4", "16:9", "9:16", "9:21", "21:9"),
        output_format: oneOf("jpeg", "png"),
        prompt_upsampling: Type.Boolean(),
        safety_tolerance: Type.Integer({ minimum: 0, maximum: 6 }),
      },
    ),
  },
  examples: [
    {
      request: { ...picture, options: { seed: 7 } },
      inputs: ["image"],
      path: `/inference/v1/workflows/${model}`,
      body: { prompt: "A barn", aspect_ratio: "1:1", seed: 7, input_image: pixels },
    },
  ],
  accepted: { request_id: "job-1" },
  pollPath: `/inference/v1/workflows/${model}/get_result`,
  pollBody: { id: "job-1" },
  keyPath: "/inference/v1/models",
  // There is one word for a job that waits or runs.
  isQueueHidden: true,
  states: {
    queued: { id: "job-1", status: "Pending", result: null },
    running: { id: "job-1", status: "Pending", result: null, progress: null },
    odd: { id: "job-1", status: "Upscaling" },
    done: { id: "job-1", status: "Ready", result: { sample: "{url}" } },
    failed: { id: "job-1", status: "Error", result: null, details: { error: "worker died" } },
    refused: { id: "job-1", status: "Content Moderated", result: null, details: { "Moderation Reasons": ["x"] } },
  },
  refusals: {
    key: [401, { error: { object: "error", type: "invalid_request_error", message: "unauthorized" } }],
    credit: [402, { error: { object: "error", type: "error", message: "Payment required" } }],
    rate: [429, { error: { object: "error", type: "rate_limit_error", message: "Rate limit exceeded" } }],
    invalid: [
      400,
      {
        error: {
          object: "error",
          type: "invalid_request_error",
          message: "aspect_ratio: invalid",
          param: "aspect_ratio",
        },
      },
    ],
    content: [422, { detail: [{ loc: ["body", "prompt"], msg: "moderated", type: "moderation" }] }],
  },
};
