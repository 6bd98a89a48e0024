import { forgetText } from "../../lib/json-text.ts";

type Fields = Record<string, unknown>;

/**
 * Completes a body that the schema rejected, in place, as other vendors' clients mean it. Mistral's leave out the `type`
 * of tools and name a required tool call `any`; Hugging Face's send `null` for the fields of all kinds of messages.
 */
export function repairChatBody(body: unknown): void {
  if (!isObject(body)) return;
  forgetText(body);
  for (const message of listObjects(body.messages)) {
    dropNulls(message);
    for (const part of listObjects(message.content)) dropNulls(part);
    for (const call of listObjects(message.tool_calls)) repairTool(call);
  }
  for (const tool of listObjects(body.tools)) repairTool(tool);
  if (isObject(body.tool_choice)) repairTool(body.tool_choice);
  if (body.tool_choice === "any") body.tool_choice = "required";
}

function repairTool(tool: Fields): void {
  dropNulls(tool);
  if (!isObject(tool.function)) return;
  dropNulls(tool.function);
  tool.type ??= "function";
}

/** `content` may be `null` beside tool calls. */
function dropNulls(fields: Fields): void {
  for (const field in fields) if (fields[field] === null && field !== "content") delete fields[field];
}

function listObjects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
