import type { QueueVendor } from "./queue-vendor.ts";

/** Flux from its maker. */
export const blackForestLabs: QueueVendor = {
  baseUrl: "https://api.bfl.ai/v1",
  auth: { name: "x-key", prefix: "" },
  makes: {
    image: {
      path: "{model}",
      fields: {
        prompt: "prompt",
        n: { only: [1] },
        width: "width",
        height: "height",
        input_images: "images",
        seed: "seed",
      },
      // The first is `input_image`, the second `input_image_2`.
      arrange: ({ images, ...rest }) => ({
        ...rest,
        ...Object.fromEntries(
          (Array.isArray(images) ? images : []).map((image, index) => [
            index === 0 ? "input_image" : `input_image_${index + 1}`,
            image,
          ]),
        ),
      }),
      inline: "base64",
      outputs: ["result.sample"],
    },
  },
  id: "id",
  poll: {
    path: "get_result?id={id}",
    status: "status",
    words: {
      Pending: "running",
      Ready: "done",
      Error: "failed",
      Failed: "failed",
      "Request Moderated": "failed",
      "Content Moderated": "failed",
      // Another region may not know it yet.
      "Task not found": "queued",
    },
    progress: { at: "progress", max: 1 },
  },
  failure: { code: "status", message: "details.error" },
  kinds: [
    [/Moderated/, "content-refused"],
    [/^Not authenticated/, "key-refused"],
  ],
  hook: { field: "webhook_url", secretField: "webhook_secret", signature: { hex: "x-bfl-signature" } },
  pollMsMin: 500,
};
