import type LumaAI from "lumaai";
import { Type } from "typebox";
import { barnUrl, bearer, film, oneOf, picture, type QueueWire, strict, text, webUrl } from "./queue-wire.ts";

const ratio = oneOf("1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21");
const frame = Type.Union([
  strict({ type: oneOf("image"), url: webUrl }),
  strict({ type: oneOf("generation"), id: text }),
]);
const references = Type.Array(strict({ url: webUrl }, { weight: Type.Number() }), { minItems: 1, maxItems: 4 });

const video = strict(
  { model: oneOf("ray-2", "ray-flash-2") },
  {
    ...{ prompt: text, aspect_ratio: ratio, loop: Type.Boolean(), callback_url: webUrl },
    generation_type: oneOf("video"),
    duration: oneOf("5s", "9s"),
    resolution: oneOf("540p", "720p", "1080p", "4k"),
    keyframes: strict({}, { frame0: frame, frame1: frame }),
    concepts: Type.Array(strict({ key: text })),
  },
);

const image = strict(
  { model: oneOf("photon-1", "photon-flash-1") },
  {
    ...{ prompt: text, aspect_ratio: ratio, callback_url: webUrl, image_ref: references, style_ref: references },
    generation_type: oneOf("image"),
    format: oneOf("jpg", "png"),
    sync: Type.Boolean(),
    sync_timeout: Type.Number(),
  },
);

const generation = {
  id: "job-1",
  generation_type: "video",
  created_at: "2026-11-18T00:00:00Z",
  model: "ray-2",
} satisfies LumaAI.Generation;

/** Luma fetches images itself and takes none inside a request. */
export const lumaWire: QueueWire = {
  source: { documentation: "https://docs.lumalabs.ai/reference/creategeneration", sdk: "lumaai" },
  base: "/dream-machine/v1",
  model: "ray-2",
  headers: bearer,
  accepts: { "/dream-machine/v1/generations/video": video, "/dream-machine/v1/generations/image": image },
  examples: [
    {
      request: { ...film, options: { resolution: "720p" } },
      path: "/dream-machine/v1/generations/video",
      body: {
        model: "ray-2",
        prompt: "Waves",
        duration: "5s",
        aspect_ratio: "16:9",
        resolution: "720p",
      } satisfies LumaAI.Generations.VideoCreateParams,
    },
    {
      request: film,
      inputs: [
        { role: "image", url: barnUrl },
        { role: "last-image", url: barnUrl },
      ],
      path: "/dream-machine/v1/generations/video",
      body: {
        model: "ray-2",
        prompt: "Waves",
        duration: "5s",
        aspect_ratio: "16:9",
        keyframes: { frame0: { type: "image", url: barnUrl }, frame1: { type: "image", url: barnUrl } },
      } satisfies LumaAI.Generations.VideoCreateParams,
    },
    {
      model: "photon-1",
      request: { ...picture, width: 1024, height: 768 },
      inputs: [{ role: "image", url: barnUrl }],
      path: "/dream-machine/v1/generations/image",
      body: {
        model: "photon-1",
        prompt: "A barn",
        aspect_ratio: "4:3",
        image_ref: [{ url: barnUrl }],
      } satisfies LumaAI.Generations.ImageCreateParams,
    },
  ],
  accepted: { ...generation, state: "queued", assets: null, failure_reason: null },
  pollPath: "/dream-machine/v1/generations/job-1",
  states: {
    queued: { ...generation, state: "queued" } satisfies LumaAI.Generation,
    running: { ...generation, state: "dreaming" } satisfies LumaAI.Generation,
    odd: { ...generation, state: "napping" },
    done: { ...generation, state: "completed", assets: { video: "{url}", image: null, progress_video: null } },
    failed: { ...generation, state: "failed", failure_reason: "Internal error" } satisfies LumaAI.Generation,
    refused: {
      ...generation,
      state: "failed",
      failure_reason: "Prompt did not pass moderation",
    } satisfies LumaAI.Generation,
  },
  refusals: {
    key: [401, { detail: "Not authenticated" }],
    credit: [400, { detail: "Insufficient credits" }],
    rate: [429, { detail: "Too many concurrent generations" }],
    invalid: [400, { detail: "Invalid duration" }],
    content: [400, { detail: "The prompt was flagged by moderation" }],
  },
  cancel: { method: "DELETE", path: "/dream-machine/v1/generations/job-1", reply: [204, undefined] },
};
