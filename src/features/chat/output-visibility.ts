import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatProvider, NativeRequest } from "../../providers/contract.ts";
import { findNativeObstacle } from "../../providers/native/find-native-obstacle.ts";
import type { Model } from "../catalog/index.ts";
import { chatFields } from "./chat-request-schema.ts";

type Target = { chat: Pick<ChatProvider, "reportsStreamUsage"> };

/** What can be known of an answer's cost while it comes. */
export type OutputVisibility = {
  /** All that the model writes is seen as it is written: an answer that is broken off has cost what was seen. */
  isVisible: boolean;
  /** The gateway counts the output as it comes and stops it at the hold; else the hold covers the upstream's full cap. */
  isMetered: boolean;
};

/**
 * A non-streaming answer comes at once, whatever the catalog says. Else the catalog decides; where it does not, a model that may
 * reason, and a request whose cost only the vendor can tell, are not visible.
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

/** Fields that make a vendor write, or count, what is not in the text: sound, thoughts, searches, rejected predictions. */
const hidingFields = ["audio", "prediction", "reasoning_effort", "web_search_options"] as const;

/** A vendor's own field may do anything. */
function hasHiddenCost(request: ChatRequest): boolean {
  for (const field of hidingFields) if (request[field] !== undefined && request[field] !== null) return true;
  for (const field in request) if (!Object.hasOwn(chatFields, field)) return true;
  return false;
}

/** What only a route that names it lets pass is a vendor's own as well. */
function hasHiddenNativeCost(native: NativeRequest | undefined): boolean {
  return native !== undefined && findNativeObstacle(native) !== null;
}
