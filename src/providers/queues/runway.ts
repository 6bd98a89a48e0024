import type { QueueVendor } from "./queue-vendor.ts";

const ratios = { "16:9": "1280:720", "9:16": "720:1280", "1:1": "960:960", "4:3": "1104:832", "3:4": "832:1104" };

/** Runway's own models and those that it resells. */
export const runway: QueueVendor = {
  baseUrl: "https://api.dev.runwayml.com/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  headers: { "x-runway-version": "2024-11-06" },
  makes: {
    image: {
      path: "text_to_image",
      modelField: "model",
      fields: {
        prompt: "promptText",
        n: { only: [1] },
        size: { field: "ratio", as: "colon" },
        input_images: "images",
        seed: "seed",
      },
      arrange: ({ images, ...rest }) => ({
        ...rest,
        ...(Array.isArray(images) ? { referenceImages: images.map((uri) => ({ uri })) } : {}),
      }),
      outputs: ["output.*"],
    },
    video: {
      path: ({ first, last }) => (first === undefined && last === undefined ? "text_to_video" : "image_to_video"),
      modelField: "model",
      fields: {
        prompt: "promptText",
        duration: "duration",
        aspect_ratio: { field: "ratio", values: ratios },
        input_images: { field: "first", as: "first" },
        last_image: "last",
        resolution: "resolution",
        audio: "audio",
        seed: "seed",
        negative_prompt: "negativePrompt",
      },
      arrange({ first, last, ...rest }) {
        const frames = [
          ...(first === undefined ? [] : [{ uri: first, position: "first" }]),
          ...(last === undefined ? [] : [{ uri: last, position: "last" }]),
        ];
        return { ...rest, ...(frames.length === 0 ? {} : { promptImage: frames }) };
      },
      outputs: ["output.*"],
    },
  },
  id: "id",
  poll: {
    path: "tasks/{id}",
    status: "status",
    words: {
      PENDING: "queued",
      THROTTLED: "queued",
      RUNNING: "running",
      SUCCEEDED: "done",
      FAILED: "failed",
      CANCELLED: "canceled",
    },
    progress: { at: "progress", max: 1 },
  },
  cancel: { method: "DELETE", path: "tasks/{id}", works: "always" },
  failure: { code: "failureCode", message: "failure" },
  kinds: [
    [/^SAFETY/, "content-refused"],
    [/^You do not have enough credits/, "out-of-credit"],
    [/^Model variant .{1,80} is not available/, "model-unavailable"],
    [/^(?:ASSET|INPUT_PREPROCESSING)/, "rejected"],
  ],
  // Runway asks for no more than that.
  pollMsMin: 5000,
};
