import { readSuffix } from "./response-envelope.ts";
import type { JsonObject, PlacedItem } from "./response-request.ts";

const idPrefixes: Readonly<Record<string, string>> = {
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fc",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctc",
  tool_search_call: "tsc",
  tool_search_output: "tso",
  compaction: "cmp",
};

/** Item ids appear in paths and in table keys. */
export const itemIdPattern = /^[A-Za-z0-9_-]{1,200}$/;

/** The items of a request in their stored form: each with a valid id, and messages with their content as parts. */
export function toSavedItems(items: readonly PlacedItem[], requestId: string): JsonObject[] {
  const suffix = readSuffix(requestId);
  return items.map(({ item }, index) => {
    const type = String(item.type ?? "message");
    const hasId = typeof item.id === "string" && itemIdPattern.test(item.id);
    const id = hasId ? item.id : `${idPrefixes[type] ?? "msg"}_${suffix}_i${index}`;
    const content = typeof item.content === "string" ? [toPart(item.role, item.content)] : item.content;
    return { ...item, id, type, ...(content === undefined ? {} : { content }) };
  });
}

function toPart(role: unknown, text: string): JsonObject {
  return role === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text };
}
