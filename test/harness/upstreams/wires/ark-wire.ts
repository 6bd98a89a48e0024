import { Type } from "typebox";
import { address, bearer, film, oneOf, pixels, type QueueWire, seed, strict, text, webUrl } from "./queue-wire.ts";

const content = Type.Union([
  strict({ type: oneOf("text"), text }),
  strict(
    { type: oneOf("image_url"), image_url: strict({ url: address }) },
    { role: oneOf("first_frame", "last_frame", "reference_image") },
  ),
]);

const body = strict(
  { model: text, content: Type.Array(content, { minItems: 1 }) },
  {
    ...{ seed, callback_url: webUrl, return_last_frame: Type.Boolean(), generate_audio: Type.Boolean() },
    ...{ camera_fixed: Type.Boolean(), watermark: Type.Boolean(), frames: Type.Integer() },
    duration: Type.Integer({ minimum: 2, maximum: 12 }),
    ratio: oneOf("16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"),
    resolution: oneOf("480p", "720p", "1080p"),
    service_tier: oneOf("default", "flex"),
    execution_expires_after: Type.Integer(),
  },
);

/** There is no JavaScript client: `@volcengine/openapi` has no Ark. */
export const arkWire: QueueWire = {
  source: { documentation: "https://www.volcengine.com/docs/82379/1520757" },
  base: "/api/v3",
  model: "seedance-1-0-pro",
  headers: bearer,
  accepts: { "/api/v3/contents/generations/tasks": body },
  examples: [
    {
      request: { ...film, options: { resolution: "1080p", audio: false, seed: 7 } },
      inputs: ["image"],
      path: "/api/v3/contents/generations/tasks",
      body: {
        ...{ model: "seedance-1-0-pro", duration: 5, ratio: "16:9" },
        ...{ resolution: "1080p", generate_audio: false, seed: 7 },
        content: [
          { type: "text", text: "Waves" },
          { type: "image_url", image_url: { url: pixels }, role: "first_frame" },
        ],
      },
    },
  ],
  accepted: { id: "job-1" },
  pollPath: "/api/v3/contents/generations/tasks/job-1",
  states: {
    queued: { id: "job-1", model: "seedance-1-0-pro", status: "queued" },
    running: { id: "job-1", status: "running" },
    odd: { id: "job-1", status: "postprocessing" },
    done: { id: "job-1", status: "succeeded", content: { video_url: "{url}" }, usage: { completion_tokens: 9 } },
    failed: { id: "job-1", status: "failed", error: { code: "InternalServiceError", message: "try later" } },
    refused: {
      id: "job-1",
      status: "failed",
      error: { code: "OutputVideoSensitiveContentDetected", message: "may contain sensitive information" },
    },
    canceled: { id: "job-1", status: "cancelled" },
  },
  refusals: {
    key: [401, { error: { code: "AuthenticationError", message: "the API key is invalid", type: "Unauthorized" } }],
    credit: [403, { error: { code: "AccountOverdueError", message: "overdue balance", type: "Forbidden" } }],
    rate: [
      429,
      { error: { code: "RateLimitExceeded.EndpointRPMExceeded", message: "limit", type: "TooManyRequests" } },
    ],
    invalid: [400, { error: { code: "InvalidParameter", message: "duration", param: "duration", type: "BadRequest" } }],
    content: [400, { error: { code: "InputTextSensitiveContentDetected", message: "sensitive", type: "BadRequest" } }],
    model: [
      404,
      {
        error: {
          code: "InvalidEndpointOrModel.NotFound",
          message: "The model or endpoint seedance-9 does not exist or you do not have access to it.",
          type: "NotFound",
        },
      },
    ],
  },
  cancel: { method: "DELETE", path: "/api/v3/contents/generations/tasks/job-1", reply: [200, {}] },
};
