import { Type } from "typebox";
import { addressOrBytes, bare, bearer, film, oneOf, type QueueWire, strict, text, webUrl } from "./queue-wire.ts";

const common = {
  duration: Type.Integer({ minimum: 3, maximum: 15 }),
  resolution: oneOf("720p", "1080p", "4k"),
  audio: oneOf("native", "original", "off"),
  multi_shot: Type.Boolean(),
};
/** Only a video from a text has an aspect ratio. */
const textSettings = strict({}, { ...common, aspect_ratio: oneOf("16:9", "9:16", "1:1") });
const imageSettings = strict({}, common);
const options = strict({}, { callback_url: webUrl, external_task_id: text });
const content = Type.Union([
  strict({ type: oneOf("prompt"), text }),
  strict({ type: oneOf("first_frame", "last_frame"), url: addressOrBytes }),
]);

/** Kling's API 2.0. It has no JavaScript client. */
export const klingWire: QueueWire = {
  source: { documentation: "https://app.klingai.com/global/dev/document-api" },
  base: "",
  model: "kling-3.0",
  headers: bearer,
  accepts: {
    "/text-to-video/kling-3.0": strict({ prompt: text }, { settings: textSettings, options }),
    "/image-to-video/kling-3.0": strict(
      { contents: Type.Array(content, { minItems: 1 }) },
      { settings: imageSettings, options },
    ),
  },
  examples: [
    {
      request: { ...film, options: { resolution: "1080p", audio: true } },
      path: "/text-to-video/kling-3.0",
      body: {
        prompt: "Waves",
        settings: { duration: 5, aspect_ratio: "16:9", resolution: "1080p", audio: "native" },
      },
    },
    {
      request: film,
      inputs: ["image"],
      path: "/image-to-video/kling-3.0",
      body: {
        settings: { duration: 5 },
        contents: [
          { type: "prompt", text: "Waves" },
          { type: "first_frame", url: bare },
        ],
      },
    },
  ],
  accepted: { code: 0, message: "SUCCEED", request_id: "r", data: { id: "job-1", status: "submitted" } },
  pollPath: "/tasks?task_ids=job-1",
  states: {
    queued: { code: 0, data: [{ id: "job-1", status: "submitted" }] },
    running: { code: 0, data: [{ id: "job-1", status: "processing" }] },
    odd: { code: 0, data: [{ id: "job-1", status: "reviewing" }] },
    done: { code: 0, data: [{ id: "job-1", status: "succeeded", outputs: [{ type: "video", url: "{url}" }] }] },
    failed: { code: 0, data: [{ id: "job-1", status: "failed", message: "internal error" }] },
    refused: {
      code: 0,
      data: [{ id: "job-1", status: "failed", message: "Failure to pass the risk control system" }],
    },
    lost: [200, { code: 0, data: [] }],
  },
  refusals: {
    key: [401, { code: 1002, message: "access key not found", request_id: "r" }],
    credit: [429, { code: 1102, message: "Account balance not enough", request_id: "r" }],
    rate: [429, { code: 1303, message: "parallel task over resource pack limit", request_id: "r" }],
    invalid: [400, { code: 1201, message: "duration is invalid", request_id: "r" }],
    content: [400, { code: 1301, message: "content safety", request_id: "r" }],
    model: [404, { code: 1203, message: "model is not supported", request_id: "r" }],
  },
};
