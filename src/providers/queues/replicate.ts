import type { QueueVendor } from "./queue-vendor.ts";

/** A model answers with a URL, a list of them, or an object. */
const outputs = ["output", "output.*", "output.url", "output.*.url", "output.video"];

/** Models of many vendors. The upstream model is `owner/name`, with a version after a colon if it is not an official one. */
export const replicate: QueueVendor = {
  baseUrl: "https://api.replicate.com/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  makes: {
    image: {
      path: "predictions",
      modelField: "version",
      fields: {
        prompt: "input.prompt",
        n: "input.num_outputs",
        width: "input.width",
        height: "input.height",
        input_images: "input.image_input",
        resolution: "input.resolution",
        quality: "input.quality",
        style: "input.style",
        background: "input.background",
        seed: "input.seed",
        negative_prompt: "input.negative_prompt",
      },
      outputs,
    },
    video: {
      path: "predictions",
      modelField: "version",
      fields: {
        prompt: "input.prompt",
        duration: "input.duration",
        aspect_ratio: "input.aspect_ratio",
        input_images: { field: "input.image", as: "first" },
        last_image: "input.last_frame",
        resolution: "input.resolution",
        quality: "input.quality",
        style: "input.style",
        frame_rate: "input.fps",
        audio: "input.generate_audio",
        seed: "input.seed",
        negative_prompt: "input.negative_prompt",
      },
      outputs,
    },
    avatar: {
      path: "predictions",
      modelField: "version",
      fields: {
        avatar_image: "input.image",
        avatar_video: "input.video",
        audio_file: "input.audio",
        aspect_ratio: "input.aspect_ratio",
        resolution: "input.resolution",
        prompt: "input.prompt",
        seed: "input.seed",
      },
      outputs,
    },
  },
  id: "id",
  poll: {
    path: "predictions/{id}",
    status: "status",
    words: {
      starting: "queued",
      processing: "running",
      succeeded: "done",
      failed: "failed",
      canceled: "canceled",
      // Its deadline passed before it started.
      aborted: "failed",
    },
  },
  cancel: { method: "POST", path: "predictions/{id}/cancel", works: "always" },
  failure: { message: "error" },
  kinds: [
    [/^The (?:specified version does not exist|requested resource could not be found)/, "model-unavailable"],
    [/nsfw|sensitive|safety|flagged/i, "content-refused"],
  ],
  hook: { field: "webhook", more: { webhook_events_filter: ["completed"] }, signature: "standard-webhooks" },
  pollMsMin: 1000,
};
