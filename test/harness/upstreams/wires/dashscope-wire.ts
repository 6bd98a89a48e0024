import { Type } from "typebox";
import { address, bearer, film, oneOf, pixels, type QueueWire, seed, strict, text } from "./queue-wire.ts";

const resolution = oneOf("480P", "720P", "1080P");
const common = {
  ...{ seed, duration: Type.Integer(), audio: Type.Boolean(), watermark: Type.Boolean() },
  ...{ prompt_extend: Type.Boolean(), shot_type: oneOf("single", "multi") },
};
const sizes = [
  ...["832*480", "480*832", "624*624", "1280*720", "720*1280", "960*960", "1088*832", "832*1088"],
  ...["1920*1080", "1080*1920", "1440*1440", "1632*1248", "1248*1632"],
];
/** A video from a text has a size, one from an image a resolution. */
const video = Type.Union([
  strict(
    { model: text, input: strict({ prompt: text }, { negative_prompt: text, audio_url: address }) },
    { parameters: strict({}, { ...common, size: oneOf(...sizes) }) },
  ),
  strict(
    {
      model: text,
      input: strict(
        { img_url: address },
        { prompt: text, negative_prompt: text, last_frame_url: address, audio_url: address },
      ),
    },
    { parameters: strict({}, { ...common, resolution }) },
  ),
]);
const avatar = strict(
  { model: text, input: strict({ image_url: address, audio_url: address }) },
  { parameters: strict({}, { resolution }) },
);

/** The client for JavaScript is a wrapper of chat and has no videos. */
export const dashscopeWire: QueueWire = {
  source: { documentation: "https://www.alibabacloud.com/help/en/model-studio/text-to-video-api-reference" },
  base: "/api/v1",
  model: "wan2.5-t2v-preview",
  headers: { ...bearer, "x-dashscope-async": "enable" },
  accepts: {
    "/api/v1/services/aigc/video-generation/video-synthesis": video,
    "/api/v1/services/aigc/image2video/video-synthesis": avatar,
  },
  examples: [
    {
      request: { ...film, options: { negative_prompt: "rain", resolution: "1080p", seed: 7 } },
      path: "/api/v1/services/aigc/video-generation/video-synthesis",
      body: {
        model: "wan2.5-t2v-preview",
        input: { prompt: "Waves", negative_prompt: "rain" },
        parameters: { duration: 5, size: "1920*1080", seed: 7 },
      },
    },
    {
      model: "wan2.5-i2v-preview",
      request: { ...film, options: { resolution: "480p" } },
      inputs: ["image"],
      path: "/api/v1/services/aigc/video-generation/video-synthesis",
      body: {
        model: "wan2.5-i2v-preview",
        input: { prompt: "Waves", img_url: pixels },
        parameters: { duration: 5, resolution: "480P" },
      },
    },
    {
      request: { type: "avatar", aspectRatio: "auto" },
      inputs: ["person", "audio"],
      path: "/api/v1/services/aigc/image2video/video-synthesis",
      body: { model: "wan2.5-t2v-preview", input: { image_url: pixels, audio_url: pixels } },
    },
  ],
  accepted: { output: { task_id: "job-1", task_status: "PENDING" }, request_id: "r" },
  pollPath: "/api/v1/tasks/job-1",
  states: {
    queued: { output: { task_id: "job-1", task_status: "PENDING" }, request_id: "r" },
    running: { output: { task_id: "job-1", task_status: "RUNNING" } },
    odd: { output: { task_id: "job-1", task_status: "WAITING" } },
    done: { output: { task_id: "job-1", task_status: "SUCCEEDED", video_url: "{url}" }, usage: { duration: 5 } },
    failed: { output: { task_id: "job-1", task_status: "FAILED", code: "InternalError", message: "unknown" } },
    refused: {
      output: { task_id: "job-1", task_status: "FAILED", code: "DataInspectionFailed", message: "Output data" },
    },
    canceled: { output: { task_id: "job-1", task_status: "CANCELED" } },
    lost: [200, { output: { task_id: "job-1", task_status: "UNKNOWN" } }],
  },
  refusals: {
    key: [401, { code: "InvalidApiKey", message: "Invalid API-key provided.", request_id: "r" }],
    credit: [400, { code: "Arrearage", message: "Access denied, your account is overdue.", request_id: "r" }],
    rate: [429, { code: "Throttling.RateQuota", message: "Requests rate limit exceeded", request_id: "r" }],
    invalid: [400, { code: "InvalidParameter", message: "size must be in [...]", request_id: "r" }],
    content: [400, { code: "DataInspectionFailed", message: "Input data may contain inappropriate content." }],
    model: [404, { code: "ModelNotFound", message: "Model not exist.", request_id: "r" }],
  },
  cancel: { method: "POST", path: "/api/v1/tasks/job-1/cancel", reply: [200, { request_id: "r" }] },
};
