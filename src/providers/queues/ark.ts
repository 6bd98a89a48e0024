import type { QueueVendor } from "./queue-vendor.ts";

/** Seedance on Volcengine Ark, and with another address on BytePlus ModelArk. */
export const ark: QueueVendor = {
  baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
  auth: { name: "authorization", prefix: "Bearer " },
  makes: {
    video: {
      path: "contents/generations/tasks",
      modelField: "model",
      fields: {
        prompt: "text",
        duration: "duration",
        aspect_ratio: "ratio",
        input_images: "images",
        last_image: "last",
        resolution: "resolution",
        audio: "generate_audio",
        seed: "seed",
      },
      arrange({ text, images, last, ...rest }) {
        const shown = Array.isArray(images) ? images : [];
        // One image is the first frame; several are references.
        const role = shown.length === 1 ? "first_frame" : "reference_image";
        const show = (url: unknown, as: string) => ({ type: "image_url", image_url: { url }, role: as });
        return {
          ...rest,
          content: [
            ...(text === undefined ? [] : [{ type: "text", text }]),
            ...shown.map((url) => show(url, role)),
            ...(last === undefined ? [] : [show(last, "last_frame")]),
          ],
        };
      },
      outputs: ["content.video_url"],
    },
  },
  id: "id",
  poll: {
    path: "contents/generations/tasks/{id}",
    status: "status",
    words: {
      queued: "queued",
      running: "running",
      succeeded: "done",
      failed: "failed",
      cancelled: "canceled",
      expired: "failed",
    },
  },
  cancel: { method: "DELETE", path: "contents/generations/tasks/{id}", works: "while-queued" },
  failure: { code: "error.code", message: "error.message" },
  kinds: [[/SensitiveContent|PolicyViolation/, "content-refused"]],
  hook: { field: "callback_url" },
  pollMsMin: 5000,
};
