import { createHash } from "node:crypto";
import { isObject } from "./response-request.ts";
import type { PlacedEntry } from "./tool-search.ts";

/** A tool as the caller names it, in a namespace. Chat has no namespaces. */
export type NamespacedName = { namespace: string; name: string };

const nameLengthMax = 64;
const markLength = 8;

/**
 * The chat name of a namespaced tool: both names joined. Too long names are cut, with a hash, so that a tool has the
 * same name in every request.
 */
export function joinToolName({ namespace, name }: NamespacedName): string {
  const joined = `${namespace}__${name}`;
  if (joined.length <= nameLengthMax) return joined;
  const mark = createHash("sha256").update(joined).digest("hex").slice(0, markLength);
  return `${joined.slice(0, nameLengthMax - markLength - 1)}_${mark}`;
}

/** The tools of namespaces by their chat names, to recognise them when a model calls one. */
export function listNamespacedTools(entries: readonly PlacedEntry[]): ReadonlyMap<string, NamespacedName> {
  const found = new Map<string, NamespacedName>();
  for (const { entry } of entries) {
    const { type, name: namespace, tools: inner } = entry;
    if (type !== "namespace" || typeof namespace !== "string" || !Array.isArray(inner)) continue;
    for (const tool of inner) {
      if (!isObject(tool) || typeof tool.name !== "string") continue;
      const name = { namespace, name: tool.name };
      found.set(joinToolName(name), name);
    }
  }
  return found;
}
