import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatProvider, NativeRequest } from "../../providers/contract.ts";
import { findNativeObstacle } from "../../providers/native/find-native-obstacle.ts";
import type { Model } from "../catalog/index.ts";
import { chatFields } from "./chat-request-schema.ts";

type Target = { chat: Pick<ChatProvider, "reportsStreamUsage"> };

/** What is known of an answer's cost while it arrives. */
export type OutputVisibility = {
  /** All output is visible as it is written, so an interrupted answer has cost what was seen. */
  isVisible: boolean;
  /**
   * The gateway counts the output as it arrives and stops it at the hold; otherwise the hold covers the upstream's full
   * cap.
   */
  isMetered: boolean;
};

/**
 * A non-streaming answer arrives at once, whatever the catalog says. Otherwise the catalog's `hold` decides. Without
 * it, output is not visible if the model may reason, or if only the vendor knows the request's cost.
 */
export function decideVisibility(
  { hold, capabilities }: Pick<Model, "hold" | "capabilities">,
  { request, native }: { request: ChatRequest; native?: NativeRequest | undefined },
  targets: readonly Target[],
): OutputVisibility {
  if (request.stream !== true || hold === "full") return { isVisible: false, isMetered: false };
  if (hold === "metered") return { isVisible: true, isMetered: true };
  const isVisible = !capabilities.includes("reasoning") && !hasHiddenCost(request) && !hasHiddenNativeCost(native);
  return { isVisible, isMetered: isVisible && targets.every(({ chat }) => chat.reportsStreamUsage) };
}

/**
 * Fields that make a vendor produce or count output that is not in the text: audio, reasoning, searches, rejected
 * predictions.
 */
const hidingFields = ["audio", "prediction", "reasoning_effort", "web_search_options"] as const;

/** Vendors' own fields that only choose between tokens. */
const samplingFields: ReadonlySet<string> = new Set(["top_k", "min_p"]);

/** A vendor's own field may do anything. */
function hasHiddenCost(request: ChatRequest): boolean {
  for (const field of hidingFields) if (request[field] !== undefined && request[field] !== null) return true;
  for (const field in request) if (!Object.hasOwn(chatFields, field) && !samplingFields.has(field)) return true;
  return false;
}

/** So may a field that passes only because a route names it. */
function hasHiddenNativeCost(native: NativeRequest | undefined): boolean {
  return native !== undefined && findNativeObstacle(native) !== null;
}
