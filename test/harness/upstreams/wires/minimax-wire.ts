import { Type } from "typebox";
import { address, bearer, film, oneOf, pixels, type QueueWire, strict, text, webUrl } from "./queue-wire.ts";

const body = strict(
  { model: text },
  {
    ...{ prompt: text, first_frame_image: address, last_frame_image: address, callback_url: webUrl },
    ...{ prompt_optimizer: Type.Boolean(), fast_pretreatment: Type.Boolean(), aigc_watermark: Type.Boolean() },
    duration: oneOf(6, 10),
    resolution: oneOf("512P", "720P", "768P", "1080P"),
  },
);
const fine = { status_code: 0, status_msg: "success" };

/** It has no JavaScript client for videos. Errors have the status 200. */
export const minimaxWire: QueueWire = {
  source: { documentation: "https://platform.minimax.io/docs/api-reference/video-generation-t2v" },
  base: "/v1",
  model: "MiniMax-Hailuo-02",
  headers: bearer,
  accepts: { "/v1/video_generation": body },
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
  accepted: { task_id: "job-1", base_resp: fine },
  pollPath: "/v1/query/video_generation?task_id=job-1",
  states: {
    queued: { task_id: "job-1", status: "Queueing", base_resp: fine },
    running: { task_id: "job-1", status: "Processing", base_resp: fine },
    odd: { task_id: "job-1", status: "Reviewing", base_resp: fine },
    done: { task_id: "job-1", status: "Success", file_id: "7", base_resp: fine },
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
};
