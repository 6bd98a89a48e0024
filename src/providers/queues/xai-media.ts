import { pickWord } from "../pick.ts";
import type { QueueVendor } from "./queue-vendor.ts";

/** The sizes of the lower resolution, which stand for their aspect ratio. */
const ratios = {
  "1024x1024": "1:1",
  "1152x864": "4:3",
  "864x1152": "3:4",
  "1280x720": "16:9",
  "720x1280": "9:16",
  "1248x832": "3:2",
  "832x1248": "2:3",
};

/** Images and videos of Grok Imagine. */
export const xaiMedia: QueueVendor = {
  baseUrl: "https://api.x.ai/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  keyPath: "models",
  makes: {
    image: {
      path: ({ images }) => (images === undefined ? "images/generations" : "images/edits"),
      modelField: "model",
      fields: {
        prompt: "prompt",
        n: "n",
        size: { field: "aspect_ratio", values: ratios },
        resolution: { field: "resolution", values: { "1k": "1k", "2k": "2k" } },
        quality: { field: "quality", values: { low: "low", medium: "medium", high: "high" } },
        input_images: "images",
      },
      arrange({ images, ...rest }) {
        const shown = (Array.isArray(images) ? images : []).map((url: unknown) => ({ url, type: "image_url" }));
        const placed = shown.length === 1 ? { image: shown[0] } : { images: shown };
        return { ...rest, response_format: "b64_json", ...(shown.length === 0 ? {} : placed) };
      },
      isImmediate: true,
      isEncoded: true,
      outputs: ["data.*.b64_json"],
      withheld: { at: ["data.*.respect_moderation"], words: /^false$/ },
    },
    video: {
      path: "videos/generations",
      modelField: "model",
      fields: {
        prompt: "prompt",
        duration: "duration",
        aspect_ratio: "aspect_ratio",
        resolution: "resolution",
        input_images: { field: "image.url", as: "first" },
      },
      outputs: ["video.url"],
      withheld: { at: ["video.respect_moderation"], words: /^false$/ },
    },
  },
  id: "request_id",
  poll: {
    path: "videos/{id}",
    // A job that runs may have an empty body; a finished one may have its video and no word.
    status: (body) => pickWord(body, "status") ?? (pickWord(body, "video.url") === null ? "pending" : "done"),
    words: { pending: "running", done: "done", failed: "failed", expired: "failed" },
    progress: { at: "progress", max: 100 },
  },
  failure: { code: "error.code", message: "error.message" },
  kinds: [[/moderation|content policy/i, "content-refused"]],
  pollMsMin: 5000,
};
