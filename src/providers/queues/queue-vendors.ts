import type { QueueKind } from "../provider-definition.ts";
import { ark } from "./ark.ts";
import { blackForestLabs } from "./black-forest-labs.ts";
import { dashscope } from "./dashscope.ts";
import { heygen } from "./heygen.ts";
import { kling } from "./kling.ts";
import { luma } from "./luma.ts";
import { minimax } from "./minimax.ts";
import type { QueueVendor } from "./queue-vendor.ts";
import { replicate } from "./replicate.ts";
import { runway } from "./runway.ts";

/** The vendors by their kind in the catalog. */
export const queueVendors = {
  ark,
  "black-forest-labs": blackForestLabs,
  dashscope,
  heygen,
  kling,
  luma,
  minimax,
  replicate,
  runway,
} as const satisfies Record<QueueKind, QueueVendor>;
