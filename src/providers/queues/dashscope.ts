import type { QueueVendor } from "./queue-vendor.ts";

const resolutions = { "480p": "480P", "720p": "720P", "1080p": "1080P" };
const sizes = { "16:9": "1280*720", "9:16": "720*1280", "1:1": "960*960", "4:3": "1088*832", "3:4": "832*1088" };

/** Wan on Alibaba's Model Studio. Key, model and address belong to one region. */
export const dashscope: QueueVendor = {
  baseUrl: "https://dashscope-intl.aliyuncs.com/api/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  headers: { "x-dashscope-async": "enable" },
  makes: {
    video: {
      path: "services/aigc/video-generation/video-synthesis",
      modelField: "model",
      fields: {
        prompt: "input.prompt",
        duration: "parameters.duration",
        aspect_ratio: { field: "parameters.size", values: sizes },
        input_images: { field: "input.img_url", as: "first" },
        last_image: "input.last_frame_url",
        resolution: { field: "parameters.resolution", values: resolutions },
        audio: "parameters.audio",
        seed: "parameters.seed",
        negative_prompt: "input.negative_prompt",
      },
      outputs: ["output.video_url"],
    },
    avatar: {
      path: "services/aigc/image2video/video-synthesis",
      modelField: "model",
      fields: {
        avatar_image: "input.image_url",
        audio_file: "input.audio_url",
        // The video has the shape of the image.
        aspect_ratio: { only: ["auto"] },
        resolution: { field: "parameters.resolution", values: resolutions },
      },
      outputs: ["output.results.video_url", "output.video_url"],
    },
  },
  id: "output.task_id",
  poll: {
    path: "tasks/{id}",
    status: "output.task_status",
    words: {
      PENDING: "queued",
      SUSPENDED: "queued",
      RUNNING: "running",
      SUCCEEDED: "done",
      FAILED: "failed",
      CANCELED: "canceled",
      UNKNOWN: "lost",
    },
  },
  cancel: { method: "POST", path: "tasks/{id}/cancel", works: "while-queued" },
  failure: { code: "output.code", message: "output.message" },
  kinds: [
    [/DataInspection|IPInfringement/i, "content-refused"],
    [/^InvalidApiKey/, "key-refused"],
    [/^Arrearage/, "out-of-credit"],
    [/^Throttling/, "rate-limited"],
    [/^InvalidParameter|^InvalidURL/, "rejected"],
  ],
  pollMsMin: 2000,
};
