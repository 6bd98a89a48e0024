import type { QueueKind } from "../../../../src/providers/provider-definition.ts";
import { arkWire } from "./ark-wire.ts";
import { blackForestLabsWire } from "./black-forest-labs-wire.ts";
import { dashscopeWire } from "./dashscope-wire.ts";
import { fireworksWire } from "./fireworks-wire.ts";
import { googleMediaWire, vertexMediaWire } from "./google-wires.ts";
import { heygenWire } from "./heygen-wire.ts";
import { klingWire } from "./kling-wire.ts";
import { lumaWire } from "./luma-wire.ts";
import { minimaxWire } from "./minimax-wire.ts";
import { openrouterMediaWire } from "./openrouter-media-wire.ts";
import type { QueueWire } from "./queue-wire.ts";
import { replicateWire } from "./replicate-wire.ts";
import { runwayWire } from "./runway-wire.ts";
import { xaiMediaWire } from "./xai-media-wire.ts";

/** The wires by the kind of provider that speaks to the vendor. */
export const queueWires: Record<QueueKind, QueueWire> = {
  ark: arkWire,
  "black-forest-labs": blackForestLabsWire,
  dashscope: dashscopeWire,
  fireworks: fireworksWire,
  "google-media": googleMediaWire,
  heygen: heygenWire,
  kling: klingWire,
  luma: lumaWire,
  minimax: minimaxWire,
  "openrouter-media": openrouterMediaWire,
  replicate: replicateWire,
  runway: runwayWire,
  "vertex-media": vertexMediaWire,
  "xai-media": xaiMediaWire,
};
