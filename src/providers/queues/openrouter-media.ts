import type { QueueVendor } from "./queue-vendor.ts";

/** Images and videos of many vendors, by OpenRouter's own APIs for them. */
export const openrouterMedia: QueueVendor = {
  baseUrl: "https://openrouter.ai/api/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  keyPath: "key",
  makes: {
    image: {
      path: "images",
      modelField: "model",
      fields: {
        prompt: "prompt",
        n: "n",
        size: "size",
        quality: "quality",
        background: "background",
        seed: "seed",
        input_images: "images",
      },
      arrange: ({ images, ...rest }) => ({
        ...rest,
        ...(Array.isArray(images) ? { input_references: images.map(describeImage) } : {}),
      }),
      isImmediate: true,
      isEncoded: true,
      outputs: ["data.*.b64_json"],
    },
    video: {
      path: "videos",
      modelField: "model",
      fields: {
        prompt: "prompt",
        duration: "duration",
        aspect_ratio: "aspect_ratio",
        resolution: "resolution",
        audio: "generate_audio",
        seed: "seed",
        input_images: "images",
        last_image: "last",
      },
      arrange({ images, last, ...rest }) {
        const shown = Array.isArray(images) ? images : [];
        // One image is the first frame; several are references.
        const frames = [
          ...(shown.length === 1 ? [{ ...describeImage(shown[0]), frame_type: "first_frame" }] : []),
          ...(last === undefined ? [] : [{ ...describeImage(last), frame_type: "last_frame" }]),
        ];
        return {
          ...rest,
          ...(frames.length === 0 ? {} : { frame_images: frames }),
          ...(shown.length > 1 ? { input_references: shown.map(describeImage) } : {}),
        };
      },
      outputs: ["unsigned_urls.*"],
    },
  },
  id: "id",
  poll: {
    path: "videos/{id}",
    status: "status",
    words: {
      pending: "queued",
      in_progress: "running",
      completed: "done",
      failed: "failed",
      cancelled: "canceled",
      expired: "failed",
    },
  },
  // A host may fail after the reply has begun: the status is then 200.
  fault: { code: "error.code", message: "error.message", fine: [] },
  failure: { message: "error" },
  kinds: [[/requires moderation|content policy|flagged/i, "content-refused"]],
  hook: { field: "callback_url" },
  pollMsMin: 5000,
};

function describeImage(url: unknown): object {
  return { type: "image_url", image_url: { url } };
}
