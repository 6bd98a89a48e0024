import { isUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { isObject, type JsonObject, type PlacedItem, type ResponseRequest } from "./response-request.ts";

/**
 * A client's tool search: the client offers few tools and one to search for more, and sends back what it found. In chat the
 * search is a function of this name, and the tools that were found are offered like all others.
 */
export const searchFunction = "tool_search";

/** Whether the caller runs the search; otherwise the vendor does. */
export function isClientSearch({ type, execution }: JsonObject): boolean {
  return execution === "client" && searchTypes.has(type);
}

const searchTypes: ReadonlySet<unknown> = new Set(["tool_search", "tool_search_call", "tool_search_output"]);

export function searchesTools(request: ResponseRequest): boolean {
  // An outline has only functions and custom tools.
  if (isUnread(request, "tools")) return false;
  return (request.tools ?? []).some(isClientSearch);
}

/** A tool or a namespace as the caller wrote it. */
export type PlacedEntry = { entry: JsonObject; place: string };

/** The request's tools, and those that the conversation's searches have found. */
export function listToolEntries({ tools }: ResponseRequest, items: readonly PlacedItem[]): PlacedEntry[] {
  const offered = (tools ?? []).map((entry, index) => ({ entry, place: `tools[${index}]` }));
  for (const { item, place } of items) {
    if (item.type !== "tool_search_output" || !isClientSearch(item)) continue;
    offered.push(...listFound(item.tools, `${place}.tools`));
  }
  return offered;
}

/** Found tools are loaded, so they are deferred no longer. */
function listFound(tools: unknown, place: string): PlacedEntry[] {
  if (!Array.isArray(tools))
    throw new AppError("invalid_parameter", `\`${place}\` must be a list of tools.`, { param: place });
  return tools.map((tool: unknown, index) => {
    const at = `${place}[${index}]`;
    if (!isObject(tool)) throw new AppError("invalid_parameter", `\`${at}\` must be a tool.`, { param: at });
    const { defer_loading: _, ...entry } = tool;
    if (entry.type === "namespace") entry.tools = listFound(entry.tools, `${at}.tools`).map((one) => one.entry);
    return { entry, place: at };
  });
}

/** What the model reads as the result of its search. */
export function describeFound({ tools }: JsonObject): string {
  const names = (Array.isArray(tools) ? tools.filter(isObject) : []).map(({ name }) => String(name));
  return names.length === 0 ? "No tools were found." : `You can now use these tools: ${names.join(", ")}.`;
}
