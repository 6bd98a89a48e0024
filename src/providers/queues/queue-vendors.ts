import type { QueueKind } from "../provider-definition.ts";
import { ark } from "./ark.ts";
import { blackForestLabs } from "./black-forest-labs.ts";
import { dashscope } from "./dashscope.ts";
import { googleMedia } from "./google-media.ts";
import { heygen } from "./heygen.ts";
import { kling } from "./kling.ts";
import { luma } from "./luma.ts";
import { minimax } from "./minimax.ts";
import type { QueueVendor } from "./queue-vendor.ts";
import { replicate } from "./replicate.ts";
import { runway } from "./runway.ts";
import { vertexMedia } from "./vertex-media.ts";

/** The vendors by their kind in the catalog. */
export const queueVendors = {
  ark,
  "black-forest-labs": blackForestLabs,
  dashscope,
  "google-media": googleMedia,
  heygen,
  kling,
  luma,
  minimax,
  replicate,
  runway,
  "vertex-media": vertexMedia,
} as const satisfies Record<QueueKind, QueueVendor>;
