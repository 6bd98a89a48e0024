import type { GenerationInput, GenerationRequest } from "../../../src/providers/generation.ts";
import type { QueueKind } from "../../../src/providers/provider-definition.ts";

/** A request, and how it looks on the vendor's wire. */
type WireExample = {
  request: GenerationRequest;
  inputs?: readonly GenerationInput["role"][];
  path: string;
  body: unknown;
};

/** A reply of the vendor: its status and its JSON. */
type WireReply = readonly [status: number, body: unknown];

/**
 * What a vendor's API sends and expects, written from its documentation and not from our tables. `{url}` stands for the
 * address of an output.
 */
export type QueueWire = {
  /** The path of the vendor's base URL. */
  base: string;
  model: string;
  headers: Readonly<Record<string, string>>;
  examples: readonly [WireExample, ...WireExample[]];
  accepted: unknown;
  /** The poll of the accepted job. */
  pollPath: string;
  states: {
    queued: unknown;
    running: unknown;
    /** With a word that no documentation has. */
    odd: unknown;
    done: unknown;
    failed: unknown;
    refused: unknown;
    canceled?: unknown;
    /** Its reply for a job that it does not know; 404 by default. */
    lost?: WireReply;
  };
  /** Its progress in `running`. */
  progress?: number;
  /** Between the result and the output. */
  file?: { path: string; reply: unknown };
  refusals: {
    key: WireReply;
    credit: WireReply;
    rate: WireReply;
    invalid: WireReply;
    content: WireReply;
  };
  cancel?: { method: string; path: string; reply: WireReply };
};

const film = { type: "video", prompt: "Waves", durationSeconds: 5, aspectRatio: "16:9" } as const;
const picture = { type: "image", prompt: "A barn", width: 1024, height: 1024, count: 1 } as const;
/** The address of an input without a URL, as `addressInputs` writes it: the bytes are "pixels". */
const pixels = "data:image/png;base64,cGl4ZWxz";
const bare = "cGl4ZWxz";
const bearer = { authorization: "Bearer sk-1" };

export const queueWires: Record<QueueKind, QueueWire> = {
  replicate: {
    base: "/v1",
    model: "minimax/video-01",
    headers: bearer,
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
    accepted: { id: "job-1", status: "starting", urls: { get: "https://api.replicate.com/v1/predictions/job-1" } },
    pollPath: "/v1/predictions/job-1",
    states: {
      queued: { id: "job-1", status: "starting", output: null, error: null },
      running: { id: "job-1", status: "processing", output: null, logs: "10%" },
      odd: { id: "job-1", status: "resuming" },
      done: { id: "job-1", status: "succeeded", output: ["{url}"], metrics: { predict_time: 3 } },
      failed: { id: "job-1", status: "failed", error: "CUDA out of memory", output: null },
      refused: { id: "job-1", status: "failed", error: "NSFW content detected. Try running it again." },
      canceled: { id: "job-1", status: "canceled" },
    },
    refusals: {
      key: [401, { title: "Unauthenticated", detail: "You did not pass an authentication token", status: 401 }],
      credit: [402, { title: "Insufficient credit", detail: "You have insufficient credit to run this model." }],
      rate: [429, { detail: "Request was throttled. Your rate limit resets in ~30s.", status: 429 }],
      invalid: [422, { title: "Input validation failed", detail: "- input.prompt: is required", status: 422 }],
      content: [422, { detail: "The input was flagged as sensitive (E005)", status: 422 }],
    },
    cancel: { method: "POST", path: "/v1/predictions/job-1/cancel", reply: [200, { id: "job-1", status: "canceled" }] },
  },
  runway: {
    base: "/v1",
    model: "gen4_turbo",
    headers: { ...bearer, "x-runway-version": "2024-11-06" },
    examples: [
      {
        request: { ...film, options: { seed: 7 } },
        path: "/v1/text_to_video",
        body: { model: "gen4_turbo", promptText: "Waves", duration: 5, ratio: "1280:720", seed: 7 },
      },
      {
        request: film,
        inputs: ["image", "last-image"],
        path: "/v1/image_to_video",
        body: {
          ...{ model: "gen4_turbo", promptText: "Waves", duration: 5, ratio: "1280:720" },
          promptImage: [
            { uri: pixels, position: "first" },
            { uri: pixels, position: "last" },
          ],
        },
      },
      {
        request: { ...picture, width: 1920, height: 1080 },
        path: "/v1/text_to_image",
        body: { model: "gen4_turbo", promptText: "A barn", ratio: "1920:1080" },
      },
    ],
    accepted: { id: "job-1" },
    pollPath: "/v1/tasks/job-1",
    states: {
      queued: { id: "job-1", status: "THROTTLED", createdAt: "2026-11-18T00:00:00Z" },
      running: { id: "job-1", status: "RUNNING", progress: 0.25 },
      odd: { id: "job-1", status: "PAUSED" },
      done: { id: "job-1", status: "SUCCEEDED", output: ["{url}"] },
      failed: {
        id: "job-1",
        status: "FAILED",
        failure: "Something went wrong",
        failureCode: "INTERNAL.BAD_OUTPUT.CODE01",
      },
      refused: { id: "job-1", status: "FAILED", failure: "Did not pass moderation", failureCode: "SAFETY.INPUT.TEXT" },
      canceled: { id: "job-1", status: "CANCELLED" },
    },
    progress: 25,
    refusals: {
      key: [401, { error: "Unauthorized" }],
      credit: [400, { error: "You do not have enough credits to run this task." }],
      rate: [429, { error: "You have reached your daily task limit." }],
      invalid: [400, { error: "Validation of body failed", issues: [{ path: ["ratio"], message: "Invalid" }] }],
      content: [400, { error: "The prompt was flagged by our safety system.", failureCode: "SAFETY.INPUT.TEXT" }],
    },
    cancel: { method: "DELETE", path: "/v1/tasks/job-1", reply: [204, undefined] },
  },
  ark: {
    base: "/api/v3",
    model: "seedance-1-0-pro",
    headers: bearer,
    examples: [
      {
        request: { ...film, options: { resolution: "1080p", audio: false, seed: 7 } },
        inputs: ["image"],
        path: "/api/v3/contents/generations/tasks",
        body: {
          ...{
            model: "seedance-1-0-pro",
            duration: 5,
            ratio: "16:9",
            resolution: "1080p",
            generate_audio: false,
            seed: 7,
          },
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
      invalid: [
        400,
        { error: { code: "InvalidParameter", message: "duration", param: "duration", type: "BadRequest" } },
      ],
      content: [
        400,
        { error: { code: "InputTextSensitiveContentDetected", message: "sensitive", type: "BadRequest" } },
      ],
    },
    cancel: { method: "DELETE", path: "/api/v3/contents/generations/tasks/job-1", reply: [200, {}] },
  },
  kling: {
    base: "",
    model: "kling-3.0",
    headers: bearer,
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
          settings: { duration: 5, aspect_ratio: "16:9" },
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
    },
  },
  dashscope: {
    base: "/api/v1",
    model: "wan2.5-t2v-preview",
    headers: { ...bearer, "x-dashscope-async": "enable" },
    examples: [
      {
        request: { ...film, options: { negative_prompt: "rain", resolution: "720p", seed: 7 } },
        path: "/api/v1/services/aigc/video-generation/video-synthesis",
        body: {
          model: "wan2.5-t2v-preview",
          input: { prompt: "Waves", negative_prompt: "rain" },
          parameters: { duration: 5, size: "1280*720", resolution: "720P", seed: 7 },
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
    },
    cancel: { method: "POST", path: "/api/v1/tasks/job-1/cancel", reply: [200, { request_id: "r" }] },
  },
  minimax: {
    base: "/v1",
    model: "MiniMax-Hailuo-02",
    headers: bearer,
    examples: [
      {
        request: { ...film, durationSeconds: 6, options: { resolution: "768p" } },
        inputs: ["image"],
        path: "/v1/video_generation",
        body: {
          ...{ model: "MiniMax-Hailuo-02", prompt: "Waves", duration: 6, resolution: "768P" },
          first_frame_image: pixels,
        },
      },
    ],
    accepted: { task_id: "job-1", base_resp: { status_code: 0, status_msg: "success" } },
    pollPath: "/v1/query/video_generation?task_id=job-1",
    states: {
      queued: { task_id: "job-1", status: "Queueing", base_resp: { status_code: 0, status_msg: "success" } },
      running: { task_id: "job-1", status: "Processing", base_resp: { status_code: 0, status_msg: "success" } },
      odd: { task_id: "job-1", status: "Reviewing", base_resp: { status_code: 0, status_msg: "success" } },
      done: { task_id: "job-1", status: "Success", file_id: "7", base_resp: { status_code: 0, status_msg: "success" } },
      failed: { task_id: "job-1", status: "Fail", base_resp: { status_code: 1000, status_msg: "unknown error" } },
      refused: { task_id: "job-1", status: "Fail", base_resp: { status_code: 1027, status_msg: "output sensitive" } },
    },
    file: { path: "/v1/files/retrieve?file_id=7", reply: { file: { file_id: 7, download_url: "{url}" } } },
    refusals: {
      key: [200, { base_resp: { status_code: 1004, status_msg: "login fail" } }],
      credit: [200, { base_resp: { status_code: 1008, status_msg: "insufficient balance" } }],
      rate: [200, { base_resp: { status_code: 1002, status_msg: "rate limit" } }],
      invalid: [200, { base_resp: { status_code: 2013, status_msg: "invalid params, duration" } }],
      content: [200, { base_resp: { status_code: 1026, status_msg: "input new_sensitive" } }],
    },
  },
  "black-forest-labs": {
    base: "/v1",
    model: "flux-2-pro",
    headers: { "x-key": "sk-1" },
    examples: [
      {
        request: { ...picture, options: { seed: 7 } },
        inputs: ["image", "image"],
        path: "/v1/flux-2-pro",
        body: { prompt: "A barn", width: 1024, height: 1024, seed: 7, input_image: bare, input_image_2: bare },
      },
    ],
    accepted: { id: "job-1", polling_url: "https://api.us1.bfl.ai/v1/get_result?id=job-1", cost: 3 },
    pollPath: "/v1/get_result?id=job-1",
    states: {
      queued: { id: "job-1", status: "Task not found", result: null },
      running: { id: "job-1", status: "Pending", result: null, progress: 0.5 },
      odd: { id: "job-1", status: "Upscaling" },
      done: { id: "job-1", status: "Ready", result: { sample: "{url}", seed: 7 } },
      failed: { id: "job-1", status: "Error", result: null, details: { error: "worker died" } },
      refused: { id: "job-1", status: "Content Moderated", result: null, details: { "Moderation Reasons": ["x"] } },
    },
    progress: 50,
    refusals: {
      key: [403, { detail: "Not authenticated - Invalid Authentication" }],
      credit: [402, { detail: "Insufficient credits. Please top up." }],
      rate: [429, { detail: "Too many requests" }],
      invalid: [422, { detail: [{ loc: ["body", "width"], msg: "should be a multiple of 16", type: "multiple_of" }] }],
      content: [422, { detail: [{ loc: ["body", "prompt"], msg: "moderated", type: "moderation" }] }],
    },
  },
  luma: {
    base: "/dream-machine/v1",
    model: "ray-2",
    headers: bearer,
    examples: [
      {
        request: { ...film, options: { resolution: "720p" } },
        inputs: ["image", "last-image"],
        path: "/dream-machine/v1/generations/video",
        body: {
          ...{ model: "ray-2", prompt: "Waves", duration: "5s", aspect_ratio: "16:9", resolution: "720p" },
          keyframes: { frame0: { type: "image", url: pixels }, frame1: { type: "image", url: pixels } },
        },
      },
      {
        request: picture,
        path: "/dream-machine/v1/generations/image",
        body: { model: "ray-2", prompt: "A barn", aspect_ratio: "1:1" },
      },
    ],
    accepted: { id: "job-1", state: "queued", assets: null },
    pollPath: "/dream-machine/v1/generations/job-1",
    states: {
      queued: { id: "job-1", state: "queued" },
      running: { id: "job-1", state: "dreaming" },
      odd: { id: "job-1", state: "napping" },
      done: { id: "job-1", state: "completed", assets: { video: "{url}", image: null } },
      failed: { id: "job-1", state: "failed", failure_reason: "Internal error" },
      refused: { id: "job-1", state: "failed", failure_reason: "Prompt did not pass moderation" },
    },
    refusals: {
      key: [401, { detail: "Not authenticated" }],
      credit: [402, { detail: "Insufficient credits" }],
      rate: [429, { detail: "Too many concurrent generations" }],
      invalid: [400, { detail: "Invalid duration" }],
      content: [400, { detail: "The prompt was flagged by moderation" }],
    },
    cancel: { method: "DELETE", path: "/dream-machine/v1/generations/job-1", reply: [204, undefined] },
  },
  heygen: {
    base: "/v3",
    model: "avatar-iv",
    headers: { "x-api-key": "sk-1" },
    examples: [
      {
        request: { type: "avatar", aspectRatio: "9:16", options: { resolution: "1080p", prompt: "She smiles." } },
        inputs: ["person", "audio"],
        path: "/v3/videos",
        body: {
          ...{
            type: "image",
            aspect_ratio: "9:16",
            resolution: "1080p",
            motion_prompt: "She smiles.",
            audio_url: pixels,
          },
          image: { type: "base64", media_type: "image/png", data: bare },
        },
      },
    ],
    accepted: { data: { video_id: "job-1", status: "waiting" } },
    pollPath: "/v3/videos/job-1",
    states: {
      queued: { data: { id: "job-1", status: "pending" } },
      running: { data: { id: "job-1", status: "processing" } },
      odd: { data: { id: "job-1", status: "rendering" } },
      done: { data: { id: "job-1", status: "completed", video_url: "{url}", duration: 5 } },
      failed: { data: { id: "job-1", status: "failed", failure_code: "internal_error", failure_message: "failed" } },
      refused: { data: { id: "job-1", status: "failed", failure_code: "moderation_error", failure_message: "no" } },
    },
    refusals: {
      key: [401, { error: { code: "unauthorized", message: "Invalid API key" } }],
      credit: [402, { error: { code: "insufficient_credit", message: "Not enough credits" } }],
      rate: [429, { error: { code: "rate_limit_exceeded", message: "Slow down" } }],
      invalid: [400, { error: { code: "validation_error", message: "bad", param: "aspect_ratio" } }],
      content: [400, { error: { code: "moderation_error", message: "content_policy" } }],
    },
  },
};
