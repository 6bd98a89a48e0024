import type { QueueVendor } from "./queue-vendor.ts";

/** Talking images. */
export const heygen: QueueVendor = {
  baseUrl: "https://api.heygen.com/v3",
  auth: { name: "x-api-key", prefix: "" },
  makes: {
    avatar: {
      path: "videos",
      fields: {
        avatar_image: "image",
        audio_file: "audio_url",
        aspect_ratio: "aspect_ratio",
        resolution: "resolution",
        prompt: "motion_prompt",
      },
      arrange: ({ image, ...rest }) => ({ ...rest, type: "image", image: describeImage(String(image)) }),
      urlOnly: ["audio"],
      outputs: ["data.video_url"],
    },
  },
  id: "data.video_id",
  poll: {
    path: "videos/{id}",
    status: "data.status",
    words: { waiting: "queued", pending: "queued", processing: "running", completed: "done", failed: "failed" },
  },
  failure: { code: "data.failure_code", message: "data.failure_message" },
  kinds: [
    [/^insufficient_credit/, "out-of-credit"],
    [/^validation_error/, "rejected"],
    [/moderation|nsfw|content_policy/i, "content-refused"],
  ],
  hook: { field: "callback_url", signature: { hex: "heygen-signature" } },
  pollMsMin: 3000,
};

function describeImage(address: string): object {
  const [, type, data] = /^data:([^;]+);base64,(.*)$/.exec(address) ?? [];
  return data === undefined ? { type: "url", url: address } : { type: "base64", media_type: type, data };
}
