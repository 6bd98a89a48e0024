import { ProviderError } from "../contract.ts";
import type { QueueVendor } from "./queue-vendor.ts";

const resolutions = { "480p": "480P", "720p": "720P", "1080p": "1080P" };
const ratios = ["16:9", "9:16", "1:1", "4:3", "3:4"];
/** By resolution, in the order of the ratios. The lowest has three. */
const sizes: Readonly<Record<string, readonly string[]>> = {
  "480P": ["832*480", "480*832", "624*624"],
  "720P": ["1280*720", "720*1280", "960*960", "1088*832", "832*1088"],
  "1080P": ["1920*1080", "1080*1920", "1440*1440", "1632*1248", "1248*1632"],
};

/** Wan on Alibaba's Model Studio. Key, model and address belong to one region. */
export const dashscope: QueueVendor = {
  baseUrl: "https://dashscope-intl.aliyuncs.com/api/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  headers: { "x-dashscope-async": "enable" },
  makes: {
    video: {
      path: "services/aigc/video-generation/video-synthesis",
      modelField: "model",
      fields: {
        prompt: "input.prompt",
        duration: "parameters.duration",
        aspect_ratio: { field: "ratio", only: ratios },
        input_images: { field: "input.img_url", as: "first" },
        last_image: "input.last_frame_url",
        resolution: { field: "resolution", values: resolutions },
        audio: "parameters.audio",
        seed: "parameters.seed",
        negative_prompt: "input.negative_prompt",
      },
      // From a text, a video has a size. From an image, it has the shape of the image and a resolution.
      arrange({ ratio, resolution, ...rest }) {
        const { input, parameters } = rest as { input?: { img_url?: unknown }; parameters?: object };
        const shape =
          input?.img_url !== undefined
            ? { ...(resolution === undefined ? {} : { resolution }) }
            : ratio === undefined
              ? {}
              : { size: findSize(String(ratio), String(resolution ?? "720P")) };
        return { ...rest, parameters: { ...parameters, ...shape } };
      },
      outputs: ["output.video_url"],
    },
    avatar: {
      path: "services/aigc/image2video/video-synthesis",
      modelField: "model",
      fields: {
        avatar_image: "input.image_url",
        audio_file: "input.audio_url",
        // The video has the shape of the image.
        aspect_ratio: { only: ["auto"] },
        resolution: { field: "parameters.resolution", values: resolutions },
      },
      outputs: ["output.results.video_url", "output.video_url"],
    },
  },
  id: "output.task_id",
  poll: {
    path: "tasks/{id}",
    status: "output.task_status",
    words: {
      PENDING: "queued",
      SUSPENDED: "queued",
      RUNNING: "running",
      SUCCEEDED: "done",
      FAILED: "failed",
      CANCELED: "canceled",
      UNKNOWN: "lost",
    },
  },
  cancel: { method: "POST", path: "tasks/{id}/cancel", works: "while-queued" },
  failure: { code: "output.code", message: "output.message" },
  kinds: [
    [/DataInspection|IPInfringement/i, "content-refused"],
    [/^InvalidApiKey/, "key-refused"],
    [/^Arrearage/, "out-of-credit"],
    [/^Throttling/, "rate-limited"],
    [/^Model(?:NotFound|\.AccessDenied)/, "model-unavailable"],
    [/^InvalidParameter|^InvalidURL/, "rejected"],
  ],
  pollMsMin: 2000,
};

function findSize(ratio: string, resolution: string): string {
  const size = sizes[resolution]?.[ratios.indexOf(ratio)];
  if (size !== undefined) return size;
  const message = `\`aspect_ratio\` ${ratio} is not available in this resolution.`;
  throw new ProviderError("rejected", message, { param: "aspect_ratio" });
}
