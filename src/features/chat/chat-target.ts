import { findContents } from "../../providers/chat-contents.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatObstacle, ChatProvider, ChatTimeouts, NativeRequest, NativeWire } from "../../providers/contract.ts";
import { findNativeObstacle } from "../../providers/native/find-native-obstacle.ts";
import type { TimeoutsDefinition } from "../../providers/provider-definition.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import { type CatalogView, findModel, type LiveCatalog, type RouteTarget } from "../catalog/index.ts";
import { chatFields, vendorFields } from "./chat-request-schema.ts";

/** A route target with everything a call needs except the key, which may change without a new catalog version. */
export type ChatTarget = RouteTarget & { chat: ChatProvider; timeouts: ChatTimeouts };

const standardTimeouts: ChatTimeouts = {
  connectMs: 5_000,
  firstByteMs: 120_000,
  idleMs: 120_000,
  totalMs: 600_000,
};

/** Prepares the targets of each model once per catalog version. */
export function createTargetTable(registry: ProviderRegistry): (view: CatalogView, modelId: string) => ChatTarget[] {
  let presentView: CatalogView | null = null;
  let targetsByModelId = new Map<string, ChatTarget[]>();
  return (view, modelId) => {
    if (view !== presentView) {
      presentView = view;
      targetsByModelId = new Map();
    }
    const known = targetsByModelId.get(modelId);
    if (known !== undefined) return known;
    const ready = (view.targetsByModelId.get(modelId) ?? []).map((target) => prepare(target, registry));
    targetsByModelId.set(modelId, ready);
    return ready;
  };
}

function prepare(target: RouteTarget, registry: ProviderRegistry): ChatTarget {
  const { provider, route } = target;
  return {
    ...target,
    chat: registry.getChat(provider),
    timeouts: readTimeouts({ ...provider.timeouts, ...route.timeouts }),
  };
}

function readTimeouts(own: TimeoutsDefinition): ChatTimeouts {
  return {
    connectMs: own.connect_ms ?? standardTimeouts.connectMs,
    firstByteMs: own.first_byte_ms ?? standardTimeouts.firstByteMs,
    idleMs: own.idle_ms ?? standardTimeouts.idleMs,
    totalMs: own.total_ms ?? standardTimeouts.totalMs,
  };
}

/** An API whose requests an upstream may get as their callers wrote them. */
export type ForwardedWire = "chat" | NativeWire;

/** Whether an upstream of this model gets requests of this API as they are. All others have to parse them. */
export function forwardsRequests(
  { catalog, listTargets }: { catalog: LiveCatalog; listTargets(view: CatalogView, modelId: string): ChatTarget[] },
  modelName: string,
  wire: ForwardedWire,
): boolean {
  const view = catalog.current();
  const model = findModel(view, modelName);
  if (model === undefined) return false;
  const targets = listTargets(view, model.id);
  return targets.some(({ chat }) => (wire === "chat" ? chat.copiesChat : chat.nativeWires?.has(wire)) === true);
}

/** Whether the obstacle names a field of the caller's API, or of the chat request. */
type TargetObstacle = ChatObstacle & { names: "caller" | "chat" };

export type AbleTargets = { kind: "able"; targets: ChatTarget[] } | { kind: "unable"; obstacle: TargetObstacle };

/** The targets that support everything in a request. Usually all of them: then returns the same array. */
export function listAbleTargets(targets: ChatTarget[], request: ChatRequest, native?: NativeRequest): AbleTargets {
  let obstacle: TargetObstacle | null = null;
  for (const target of targets) obstacle ??= findTargetObstacle(target, request, native);
  if (obstacle === null) return { kind: "able", targets };
  const able = targets.filter((target) => findTargetObstacle(target, request, native) === null);
  return able.length > 0 ? { kind: "able", targets: able } : { kind: "unable", obstacle };
}

/** A target with the caller's API takes the request as it is, except for fields that its route must name. */
function findTargetObstacle(
  target: ChatTarget,
  request: ChatRequest,
  native: NativeRequest | undefined,
): TargetObstacle | null {
  const isNative = native !== undefined && target.chat.nativeWires?.has(native.wire) === true;
  const own = isNative ? findNativeObstacle(native, target.route.passthrough) : (native?.obstacle ?? null);
  if (own !== null) return { ...own, names: "caller" };
  const found = isNative
    ? null
    : (findForeignField(target, request) ?? target.chat.findObstacle(request, target.route.passthrough));
  return found === null ? null : { ...found, names: "chat" };
}

/** A field outside OpenAI's API goes only to upstreams that support it or whose route names it. */
function findForeignField(target: ChatTarget, request: ChatRequest): ChatObstacle | null {
  for (const field in request) {
    if (Object.hasOwn(chatFields, field) || takesField(target, field)) continue;
    const message = Object.hasOwn(vendorFields, field)
      ? `This model does not support \`${field}\`. Remove it.`
      : `\`${field}\` cannot be used together with the other fields of this request.`;
    return { param: field, message };
  }
  if (findContents(request) !== null) return null;
  const last = request.messages.at(-1);
  if (last?.role !== "assistant" || last.prefix !== true || takesField(target, "prefix")) return null;
  const message = "This model cannot continue an assistant message. Remove `prefix`.";
  return { param: `messages[${request.messages.length - 1}].prefix`, message };
}

function takesField({ route, chat }: ChatTarget, field: string): boolean {
  return route.passthrough?.includes(field) === true || chat.vendorFields?.has(field) === true;
}
