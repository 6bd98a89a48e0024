import type { Ask, OfferedTool } from "./answer-plan.ts";
import {
  demand,
  demandKnownFields,
  demandList,
  demandRange,
  demandRecord,
  demandText,
  isRecord,
  toolNamePattern,
} from "./vendor-refusal.ts";
import { countInputTokens } from "./vendor-wire.ts";

const knownFields = [
  ..."background context_management conversation include input instructions max_output_tokens max_tool_calls".split(
    " ",
  ),
  ..."metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key".split(" "),
  ..."prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream".split(" "),
  ..."stream_options temperature text tool_choice tools top_logprobs top_p truncation user".split(" "),
];

/** Sent with every thought of a vendor that stores nothing, and must be sent back with it. */
export const encryptedThought = "Z0FBQUFBLWVuY3J5cHRlZC1ieS10aGUtbW9kZWw=";

const outputTokensDefault = 4096;

/** Validates like OpenAI's Responses API. `extraFields` are those that a compatible API also accepts. */
export function parseResponsesAsk(value: unknown, extraFields: readonly string[]): Ask {
  const body = demandRecord(value, "body");
  demandKnownFields(body, [...knownFields, ...extraFields]);
  const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : readItems(body.input);
  checkCalls(items);
  demandRange(body.max_output_tokens, "max_output_tokens", [1, 1e9]);
  demandRange(body.temperature, "temperature", [0, 2]);
  demandRange(body.top_p, "top_p", [0, 1]);
  demandRange(body.top_logprobs, "top_logprobs", [0, 20]);
  const tools = parseTools(body);
  const last = items.at(-1);
  const isResult = last?.type === "function_call_output" || last?.type === "custom_tool_call_output";
  const { effort } = isRecord(body.reasoning) ? body.reasoning : {};
  return {
    model: demandText(body.model, "model"),
    isStreamed: body.stream === true,
    prompt: readText(items.findLast(({ role }) => role === "user")?.content),
    toolResult: isResult ? readText(last.output) : null,
    inputTokens: countInputTokens(body.instructions, items, body.tools),
    outputTokensMax: Number(body.max_output_tokens ?? outputTokensDefault),
    choiceCount: 1,
    stopSequences: [],
    tools,
    toolChoice: parseToolChoice(body, tools),
    isParallel: body.parallel_tool_calls !== false,
    wantsThinking: typeof effort === "string" && effort !== "none",
    jsonSchema: parseJsonSchema(body.text),
    logprobCount: null,
    wantsStreamUsage: true,
  };
}

function readItems(input: unknown): Record<string, unknown>[] {
  const items = demandList(input, "input").map((item, at) => demandRecord(item, `input[${at}]`));
  demand(items.length > 0, "input", "Invalid 'input': empty array.");
  for (const [at, item] of items.entries()) {
    const kind = String(item.type ?? "message");
    const check = itemChecks[kind];
    demand(check !== undefined, `input[${at}].type`, `Invalid value: '${kind}'.`);
    check(item, `input[${at}]`);
  }
  return items;
}

const itemChecks: Record<string, (item: Record<string, unknown>, at: string) => void> = {
  message({ role, content }, at) {
    const isRole = ["system", "developer", "user", "assistant"].includes(String(role));
    demand(isRole, `${at}.role`, `Invalid value: '${role}'.`);
    if (typeof content === "string") return;
    const kinds = role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"];
    for (const value of demandList(content, `${at}.content`)) {
      const { type } = demandRecord(value, `${at}.content`);
      demand(kinds.includes(String(type)), `${at}.content`, `Invalid value: '${type}'.`);
    }
  },
  reasoning({ encrypted_content: encrypted, summary }, at) {
    demandList(summary, `${at}.summary`);
    const isKnown = encrypted === encryptedThought;
    demand(isKnown, at, "Items are not persisted when `store` is set to false, or could not be verified.");
  },
  function_call(item, at) {
    for (const field of ["call_id", "name"]) demandText(item[field], `${at}.${field}`);
    demand(typeof item.arguments === "string", `${at}.arguments`, "Expected a string.");
  },
  custom_tool_call(item, at) {
    for (const field of ["call_id", "name"]) demandText(item[field], `${at}.${field}`);
    demand(typeof item.input === "string", `${at}.input`, "Expected a string.");
  },
  local_shell_call(item, at) {
    for (const field of ["id", "call_id"]) demandText(item[field], `${at}.${field}`);
    demandRecord(item.action, `${at}.action`);
  },
  local_shell_call_output: ({ id }, at) => void demandText(id, `${at}.id`),
  function_call_output: ({ call_id: id }, at) => void demandText(id, `${at}.call_id`),
  custom_tool_call_output: ({ call_id: id }, at) => void demandText(id, `${at}.call_id`),
};

/** A result belongs to an earlier call, and every call has one. */
function checkCalls(items: readonly Record<string, unknown>[]): void {
  const open = new Set<unknown>();
  for (const [at, { type, call_id: id }] of items.entries()) {
    if (type === "function_call" || type === "custom_tool_call") open.add(id);
    if (type !== "function_call_output" && type !== "custom_tool_call_output") continue;
    demand(open.delete(id), `input[${at}]`, `No tool call found for function call output with call_id ${id}.`);
  }
  demand(open.size === 0, "input", `No tool output found for function call ${[...open].join()}.`);
}

function parseTools(body: Record<string, unknown>): OfferedTool[] {
  return demandList(body.tools ?? [], "tools").flatMap((value, position) => {
    const tool = demandRecord(value, `tools[${position}]`);
    if (tool.type !== "function" && tool.type !== "custom") return [];
    const name = demandText(tool.name, `tools[${position}].name`);
    demand(toolNamePattern.test(name), `tools[${position}].name`, "Invalid name of a tool.");
    return { name, schema: tool.parameters ?? {}, isCustom: tool.type === "custom" };
  });
}

function parseToolChoice(body: Record<string, unknown>, tools: readonly OfferedTool[]): Ask["toolChoice"] {
  const choice = body.tool_choice ?? "auto";
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  const { type, mode, name } = demandRecord(choice, "tool_choice");
  if (type === "allowed_tools") return mode === "required" ? "required" : "auto";
  const isOwn = type !== "function" && type !== "custom";
  // The model may use the vendor's own tools: this one never does.
  if (isOwn && demandList(body.tools, "tools").some((tool) => isRecord(tool) && tool.type === type)) return "auto";
  demand(
    tools.some((tool) => tool.name === name),
    "tool_choice",
    `Tool choice '${name}' not found in 'tools'.`,
  );
  return { name: String(name) };
}

function parseJsonSchema(text: unknown): Record<string, unknown> | null {
  const format = isRecord(text) ? text.format : undefined;
  if (!isRecord(format) || format.type === "text") return null;
  if (format.type === "json_object") return { type: "object", properties: { echo: { type: "string" } } };
  demand(format.type === "json_schema", "text.format.type", "Invalid value.");
  demandText(format.name, "text.format.name");
  return demandRecord(format.schema, "text.format.schema");
}

function readText(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}
