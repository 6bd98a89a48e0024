import type { QueueVendor } from "./queue-vendor.ts";

/** Kling's API 2.0 for videos. */
export const kling: QueueVendor = {
  baseUrl: "https://api-singapore.klingai.com",
  auth: { name: "authorization", prefix: "Bearer " },
  makes: {
    video: {
      path: ({ first, last }) =>
        first === undefined && last === undefined ? "text-to-video/{model}" : "image-to-video/{model}",
      fields: {
        prompt: "prompt",
        duration: "settings.duration",
        aspect_ratio: "ratio",
        input_images: { field: "first", as: "first" },
        last_image: "last",
        resolution: "settings.resolution",
        audio: { field: "settings.audio", values: { true: "native", false: "off" } },
      },
      inline: "base64",
      arrange({ prompt, first, last, ratio, settings, ...rest }) {
        if (first === undefined && last === undefined) {
          return { ...rest, prompt, settings: { ...(settings as object), aspect_ratio: ratio } };
        }
        // The video has the shape of the image: there is no field for another.
        return {
          ...{ ...rest, settings },
          contents: [
            ...(prompt === undefined ? [] : [{ type: "prompt", text: prompt }]),
            ...(first === undefined ? [] : [{ type: "first_frame", url: first }]),
            ...(last === undefined ? [] : [{ type: "last_frame", url: last }]),
          ],
        };
      },
      outputs: ["data.0.outputs.*.url"],
    },
  },
  id: "data.id",
  poll: {
    path: "tasks?task_ids={id}",
    status: "data.0.status",
    words: { submitted: "queued", processing: "running", succeeded: "done", failed: "failed" },
    isLostWithoutStatus: true,
  },
  fault: { code: "code", message: "message", fine: [0] },
  failure: { message: "data.0.message" },
  kinds: [
    [/^100[0-4]$/, "key-refused"],
    [/^110[123]$/, "out-of-credit"],
    [/^120[01]$/, "rejected"],
    [/^1203$/, "model-unavailable"],
    [/^130[01]$|risk control|sensitive|safety/i, "content-refused"],
    [/^130[23]$/, "rate-limited"],
    [/^500[0-2]$/, "overloaded"],
  ],
  // How it signs is on no page that could be read: a callback is only a hint, so its address is enough.
  hook: { field: "options.callback_url" },
  pollMsMin: 2000,
};
