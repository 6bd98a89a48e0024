import { isQueueKind, type ProviderDefinition, type QueueKind } from "../provider-definition.ts";
import { ark } from "./ark.ts";
import { blackForestLabs } from "./black-forest-labs.ts";
import { dashscope } from "./dashscope.ts";
import { fireworks } from "./fireworks.ts";
import { googleMedia } from "./google-media.ts";
import { heygen } from "./heygen.ts";
import { kling } from "./kling.ts";
import { luma } from "./luma.ts";
import { minimax } from "./minimax.ts";
import { openrouterMedia } from "./openrouter-media.ts";
import type { QueueVendor } from "./queue-vendor.ts";
import { replicate } from "./replicate.ts";
import { runway } from "./runway.ts";
import { vertexMedia } from "./vertex-media.ts";
import { xaiMedia } from "./xai-media.ts";

/** The vendors by their kind in the catalog. */
export const queueVendors = {
  ark,
  "black-forest-labs": blackForestLabs,
  dashscope,
  fireworks,
  "google-media": googleMedia,
  heygen,
  kling,
  luma,
  minimax,
  "openrouter-media": openrouterMedia,
  replicate,
  runway,
  "vertex-media": vertexMedia,
  "xai-media": xaiMedia,
} as const satisfies Record<QueueKind, QueueVendor>;

/** Whether a kind signs callbacks with a secret of the operator's account there. */
export function takesHookSecret(kind: ProviderDefinition["kind"]): boolean {
  if (!isQueueKind(kind)) return false;
  const { hook }: QueueVendor = queueVendors[kind];
  return hook?.signature !== undefined && hook.secretField === undefined;
}
