import { Type } from "typebox";
import { bare, oneOf, type QueueWire, strict, text, webUrl } from "./queue-wire.ts";

const image = Type.Union([
  strict({ type: oneOf("url"), url: webUrl }),
  strict({ type: oneOf("asset_id"), asset_id: text }),
  strict({ type: oneOf("base64"), media_type: text, data: text }),
]);
const body = strict(
  { type: oneOf("image"), image },
  {
    ...{ audio_url: webUrl, audio_asset_id: text, motion_prompt: text, title: text, callback_url: webUrl },
    aspect_ratio: oneOf("16:9", "9:16", "1:1"),
    resolution: oneOf("720p", "1080p", "4k"),
  },
);
const voiceUrl = "https://audio.example.com/voice.mp3";

/** It has no JavaScript client for avatars. Audio is taken by URL only. */
export const heygenWire: QueueWire = {
  source: { documentation: "https://developers.heygen.com/reference/create-video" },
  base: "/v3",
  model: "avatar-iv",
  headers: { "x-api-key": "sk-1" },
  accepts: { "/v3/videos": body },
  examples: [
    {
      request: { type: "avatar", aspectRatio: "9:16", options: { resolution: "1080p", prompt: "She smiles." } },
      inputs: ["person", { role: "audio", url: voiceUrl }],
      path: "/v3/videos",
      body: {
        ...{ type: "image", aspect_ratio: "9:16", resolution: "1080p" },
        ...{ motion_prompt: "She smiles.", audio_url: voiceUrl },
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
};
