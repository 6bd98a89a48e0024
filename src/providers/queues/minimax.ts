import type { QueueVendor } from "./queue-vendor.ts";

const resolutions = { "512p": "512P", "720p": "720P", "768p": "768P", "1080p": "1080P" };

/** Hailuo videos. */
export const minimax: QueueVendor = {
  baseUrl: "https://api.minimax.io/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  makes: {
    video: {
      path: "video_generation",
      modelField: "model",
      fields: {
        prompt: "prompt",
        duration: "duration",
        // Without an image the video is wide; with one it has the shape of the image.
        aspect_ratio: { only: ["16:9", "auto"] },
        input_images: { field: "first_frame_image", as: "first" },
        last_image: "last_frame_image",
        resolution: { field: "resolution", values: resolutions },
      },
      outputs: ["file_id"],
      files: { path: "files/retrieve?file_id={id}", url: "file.download_url" },
    },
  },
  id: "task_id",
  poll: {
    path: "query/video_generation?task_id={id}",
    status: "status",
    words: { Preparing: "queued", Queueing: "queued", Processing: "running", Success: "done", Fail: "failed" },
  },
  // Errors have the status 200.
  fault: { code: "base_resp.status_code", message: "base_resp.status_msg", fine: [0] },
  failure: { code: "base_resp.status_code", message: "base_resp.status_msg" },
  kinds: [
    [/^1001$/, "timeout"],
    [/^1002$/, "rate-limited"],
    [/^(?:1004|2049)$/, "key-refused"],
    [/^1008$/, "out-of-credit"],
    [/^102[67]$/, "content-refused"],
    [/^2013$/, "rejected"],
    [/^10(?:00|13|24|33)$/, "overloaded"],
  ],
  hook: { field: "callback_url", echoes: "challenge" },
  pollMsMin: 5000,
};
