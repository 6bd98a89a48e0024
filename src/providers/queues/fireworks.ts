import type { QueueVendor } from "./queue-vendor.ts";

/** The sizes that stand for an aspect ratio. */
const ratios = {
  "1024x1024": "1:1",
  "832x1248": "2:3",
  "1248x832": "3:2",
  "896x1120": "4:5",
  "1120x896": "5:4",
  "1344x756": "16:9",
  "756x1344": "9:16",
  "1512x648": "21:9",
  "648x1512": "9:21",
};

/** FLUX Kontext on Fireworks, which makes images and edits one. */
export const fireworks: QueueVendor = {
  baseUrl: "https://api.fireworks.ai/inference/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  keyPath: "models",
  makes: {
    image: {
      path: "workflows/{model}",
      fields: {
        prompt: "prompt",
        n: { only: [1] },
        size: { field: "aspect_ratio", values: ratios },
        input_images: { field: "input_image", as: "first" },
        seed: "seed",
      },
      outputs: ["result.sample"],
    },
  },
  id: "request_id",
  poll: {
    path: "workflows/{model}/get_result",
    ask: (id) => ({ id }),
    status: "status",
    words: {
      Pending: "running",
      Ready: "done",
      Error: "failed",
      Failed: "failed",
      "Request Moderated": "failed",
      "Content Moderated": "failed",
    },
  },
  failure: { code: "status", message: "details.error" },
  kinds: [[/Moderated/, "content-refused"]],
  hook: { field: "webhook_url" },
  pollMsMin: 1000,
};
