import type { Prediction } from "replicate";
import { Type } from "typebox";
import { bearer, film, picture, pixels, type QueueWire, strict, text, webUrl } from "./queue-wire.ts";

const prediction: Prediction = {
  id: "job-1",
  model: "minimax/video-01",
  version: "hidden",
  status: "starting",
  input: { prompt: "Waves" },
  source: "api",
  data_removed: false,
  created_at: "2026-11-18T00:00:00.000Z",
  urls: {
    get: "https://api.replicate.com/v1/predictions/job-1",
    cancel: "https://api.replicate.com/v1/predictions/job-1/cancel",
    stream: "https://stream.replicate.com/v1/files/job-1",
    web: "https://replicate.com/p/job-1",
  },
};

const body = strict(
  { version: text, input: Type.Record(Type.String(), Type.Unknown()) },
  {
    webhook: webUrl,
    webhook_events_filter: Type.Array(Type.String()),
    stream: Type.Boolean(),
  },
);

export const replicateWire: QueueWire = {
  source: { documentation: "https://replicate.com/docs/reference/http", sdk: "replicate" },
  base: "/v1",
  model: "minimax/video-01",
  headers: bearer,
  accepts: { "/v1/predictions": body },
  examples: [
    {
      request: { ...film, options: { seed: 7, resolution: "720p" } },
      path: "/v1/predictions",
      body: {
        version: "minimax/video-01",
        input: { prompt: "Waves", duration: 5, aspect_ratio: "16:9", seed: 7, resolution: "720p" },
      },
    },
    {
      request: { ...picture, count: 2 },
      path: "/v1/predictions",
      body: { version: "minimax/video-01", input: { prompt: "A barn", num_outputs: 2, width: 1024, height: 1024 } },
    },
    {
      request: { type: "avatar", aspectRatio: "9:16" },
      inputs: ["person", "audio"],
      path: "/v1/predictions",
      body: { version: "minimax/video-01", input: { image: pixels, audio: pixels, aspect_ratio: "9:16" } },
    },
  ],
  accepted: { ...prediction, logs: "", error: null, output: null },
  pollPath: "/v1/predictions/job-1",
  states: {
    queued: { ...prediction, output: null, error: null },
    running: { ...prediction, status: "processing", output: null, logs: "10%", started_at: prediction.created_at },
    odd: { ...prediction, status: "resuming" },
    done: { ...prediction, status: "succeeded", output: ["{url}"], metrics: { predict_time: 3, total_time: 4 } },
    failed: { ...prediction, status: "failed", error: "CUDA out of memory", output: null },
    refused: { ...prediction, status: "failed", error: "NSFW content detected. Try running it again." },
    canceled: { ...prediction, status: "canceled" },
  },
  refusals: {
    key: [401, { title: "Unauthenticated", detail: "You did not pass a valid authentication token", status: 401 }],
    credit: [
      402,
      {
        title: "Insufficient credit",
        detail: "You have insufficient credit to run this model. Go to https://replicate.com/account/billing.",
        status: 402,
      },
    ],
    rate: [429, { detail: "Request was throttled. Your rate limit resets in ~30s.", status: 429 }],
    invalid: [
      422,
      {
        title: "Input validation failed",
        detail: "- input: prompt is required\n",
        status: 422,
        invalid_fields: [{ type: "required", field: "input", description: "prompt is required" }],
      },
    ],
    content: [422, { detail: "The input was flagged as sensitive (E005)", status: 422 }],
    model: [
      422,
      {
        title: "Invalid version or not permitted",
        detail: "The specified version does not exist (or perhaps you don't have permission to use it?)",
        status: 422,
      },
    ],
  },
  cancel: { method: "POST", path: "/v1/predictions/job-1/cancel", reply: [200, { ...prediction, status: "canceled" }] },
};
