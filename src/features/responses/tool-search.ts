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

export function searchesTools({ tools }: ResponseRequest): boolean {
  return (tools ?? []).some(isClientSearch);
}

/** A tool or a namespace as the caller wrote it. */
export type PlacedEntry = { entry: JsonObject; place: string };

/** The request's tools, and those that the conversation's searches have found. */
export function listToolEntries({ tools }: ResponseRequest, items: readonly PlacedItem[]): PlacedEntry[] {
  const offered = (tools ?? []).map((entry, index) => ({ entry, place: `tools[${index}]` }));
  const found = items.flatMap(({ item, place }) =>
    isClientSearch(item) ? listFound(item.tools, `${place}.tools`) : [],
  );
  return [...offered, ...found];
}

/** Found tools are loaded, so they are deferred no longer. */
function listFound(tools: unknown, place: string): PlacedEntry[] {
  const found = Array.isArray(tools) ? tools.filter(isObject) : [];
  return found.map(({ defer_loading: _, ...entry }, index) => {
    const inner = Array.isArray(entry.tools) ? { tools: listFound(entry.tools, "").map((one) => one.entry) } : {};
    return { entry: { ...entry, ...inner }, place: `${place}[${index}]` };
  });
}

/** What the model reads as the result of its search. */
export function describeFound({ tools }: JsonObject): string {
  const names = (Array.isArray(tools) ? tools.filter(isObject) : []).map(({ name }) => String(name));
  return names.length === 0 ? "No tools were found." : `You can now use these tools: ${names.join(", ")}.`;
}
