import { Type } from "typebox";
import { addressOrBytes, bare, oneOf, picture, type QueueWire, seed, strict, text, webUrl } from "./queue-wire.ts";

const side = Type.Integer({ minimum: 64, multipleOf: 16 });
const images = Object.fromEntries(
  [1, 2, 3, 4, 5, 6, 7, 8].map((number) => [number === 1 ? "input_image" : `input_image_${number}`, addressOrBytes]),
);
const body = strict(
  { prompt: text },
  {
    ...{ ...images, seed, width: side, height: side, webhook_url: webUrl, webhook_secret: text },
    safety_tolerance: Type.Integer({ minimum: 0, maximum: 6 }),
    output_format: oneOf("jpeg", "png", "webp"),
  },
);

/** It has no client, but an OpenAPI document at https://api.bfl.ai/openapi.json. */
export const blackForestLabsWire: QueueWire = {
  source: { documentation: "https://docs.bfl.ai/api_integration/errors" },
  base: "/v1",
  model: "flux-2-pro",
  headers: { "x-key": "sk-1" },
  accepts: { "/v1/flux-2-pro": body },
  examples: [
    {
      request: { ...picture, options: { seed: 7 } },
      inputs: ["image", "image"],
      path: "/v1/flux-2-pro",
      body: { prompt: "A barn", width: 1024, height: 1024, seed: 7, input_image: bare, input_image_2: bare },
    },
  ],
  accepted: { id: "job-1", polling_url: "https://api.us1.bfl.ai/v1/get_result?id=job-1", cost: 3 },
  pollPath: "/v1/get_result?id=job-1",
  states: {
    queued: { id: "job-1", status: "Task not found", result: null },
    running: { id: "job-1", status: "Pending", result: null, progress: 0.5 },
    odd: { id: "job-1", status: "Upscaling" },
    done: { id: "job-1", status: "Ready", result: { sample: "{url}", seed: 7 } },
    failed: { id: "job-1", status: "Error", result: null, details: { error: "worker died" } },
    refused: { id: "job-1", status: "Content Moderated", result: null, details: { "Moderation Reasons": ["x"] } },
  },
  progress: 50,
  refusals: {
    key: [403, { detail: "Not authenticated - Invalid Authentication" }],
    credit: [402, { detail: "Insufficient credits. Please top up." }],
    rate: [429, { detail: "Too many requests" }],
    invalid: [422, { detail: [{ loc: ["body", "width"], msg: "should be a multiple of 16", type: "multiple_of" }] }],
    content: [422, { detail: [{ loc: ["body", "prompt"], msg: "moderated", type: "moderation" }] }],
  },
};
