import type { QueueVendor } from "./queue-vendor.ts";

const ratios = {
  "1024x1024": "1:1",
  "1024x768": "4:3",
  "768x1024": "3:4",
  "1280x720": "16:9",
  "720x1280": "9:16",
  "1344x576": "21:9",
  "576x1344": "9:21",
};

/** Ray videos and Photon images. */
export const luma: QueueVendor = {
  baseUrl: "https://api.lumalabs.ai/dream-machine/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  makes: {
    image: {
      path: "generations/image",
      modelField: "model",
      fields: {
        prompt: "prompt",
        n: { only: [1] },
        size: { field: "aspect_ratio", values: ratios },
        input_images: "images",
      },
      arrange: ({ images, ...rest }) => ({
        ...rest,
        ...(Array.isArray(images) ? { image_ref: images.map((url) => ({ url })) } : {}),
      }),
      urlOnly: ["image"],
      outputs: ["assets.image"],
    },
    video: {
      path: "generations/video",
      modelField: "model",
      fields: {
        prompt: "prompt",
        duration: { field: "duration", as: "seconds" },
        aspect_ratio: "aspect_ratio",
        input_images: { field: "first", as: "first" },
        last_image: "last",
        resolution: "resolution",
      },
      arrange({ first, last, ...rest }) {
        const frames = {
          ...(first === undefined ? {} : { frame0: { type: "image", url: first } }),
          ...(last === undefined ? {} : { frame1: { type: "image", url: last } }),
        };
        return { ...rest, ...(Object.keys(frames).length === 0 ? {} : { keyframes: frames }) };
      },
      urlOnly: ["image", "last-image"],
      outputs: ["assets.video"],
    },
  },
  id: "id",
  poll: {
    path: "generations/{id}",
    status: "state",
    words: { queued: "queued", dreaming: "running", completed: "done", failed: "failed" },
  },
  // Deleting a running generation stops it.
  cancel: { method: "DELETE", path: "generations/{id}", works: "always" },
  failure: { message: "failure_reason" },
  kinds: [[/moderation|content policy|nsfw/i, "content-refused"]],
  hook: { field: "callback_url" },
  pollMsMin: 2000,
};
