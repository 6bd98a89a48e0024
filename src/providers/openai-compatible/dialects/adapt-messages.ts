import { hash } from "node:crypto";
import type { ChatMessage } from "../../chat-request.ts";
import type { ChatObstacle } from "../../contract.ts";
import type { ChatDialect } from "./chat-dialect.ts";

/** What a vendor does not support in the messages of a request. */
export function findMessagesObstacle(messages: readonly ChatMessage[], dialect: ChatDialect): ChatObstacle | null {
  for (const [index, message] of messages.entries()) {
    const obstacle = findMessageObstacle(message, `messages[${index}]`, dialect);
    if (obstacle !== null) return obstacle;
  }
  return null;
}

function findMessageObstacle(message: ChatMessage, place: string, dialect: ChatDialect): ChatObstacle | null {
  const { role, name } = message;
  const takesFunctions = dialect.fields.functions !== undefined;
  if (role === "function") return takesFunctions ? null : refuse(place, "function messages");
  // The call that it answers has the name of a tool.
  if (name !== undefined && role !== "tool" && !dialect.takesNames) return refuse(`${place}.name`, "names");
  if (role === "assistant") {
    if (message.audio != null) return refuse(`${place}.audio`, "audio of earlier answers");
    if ("function_call" in message && !takesFunctions) return refuse(`${place}.function_call`, "function calls");
    const custom = message.tool_calls?.findIndex(({ type }) => type !== "function") ?? -1;
    return custom === -1 ? null : refuse(`${place}.tool_calls[${custom}]`, "custom tools");
  }
  if (role !== "user" || typeof message.content === "string") return null;
  const { parts } = dialect;
  const foreign = message.content.findIndex(({ type }) => type !== "text" && !parts.includes(type));
  const type = message.content[foreign]?.type;
  return type === undefined ? null : refuse(`${place}.content[${foreign}]`, `parts of the type ${type}`);
}

function refuse(param: string, what: string): ChatObstacle {
  return { param, message: `This model does not support ${what}.` };
}

/** The messages in the vendor's form; the same array if nothing changes. */
export function adaptMessages(messages: ChatMessage[], dialect: ChatDialect): ChatMessage[] {
  const adapted = messages.map((message) => adaptParts(adaptMessage(message, dialect)));
  return adapted.some((message, index) => message !== messages[index]) ? adapted : messages;
}

function adaptMessage(message: ChatMessage, { callIdLength, takesNames }: ChatDialect): ChatMessage {
  if (message.role === "tool") {
    const id = fitCallId(message.tool_call_id, callIdLength);
    const { name, ...rest } = message;
    if (name !== undefined && !takesNames) return { ...rest, tool_call_id: id };
    return id === message.tool_call_id ? message : { ...message, tool_call_id: id };
  }
  if (message.role !== "assistant") return message;
  const spoken = message.refusal === undefined ? message : sayRefusal(message);
  const calls = spoken.tool_calls;
  if (calls === undefined || callIdLength === undefined) return spoken;
  return { ...spoken, tool_calls: calls.map((call) => ({ ...call, id: fitCallId(call.id, callIdLength) })) };
}

/** Only OpenAI has a field for refusals. */
function sayRefusal(message: Extract<ChatMessage, { role: "assistant" }>): typeof message {
  const { refusal, ...rest } = message;
  return refusal == null || rest.content != null ? rest : { ...rest, content: refusal };
}

const letters = /^[a-zA-Z0-9]+$/;

/** The same id always becomes the same, so that calls and results still match. */
function fitCallId(id: string, length: number | undefined): string {
  if (length === undefined || (id.length === length && letters.test(id))) return id;
  return hash("sha256", id).slice(0, length);
}

type LoosePart = { type: string; refusal?: string; prompt_cache_breakpoint?: unknown };

/** Parts without OpenAI's own fields. */
function adaptParts(message: ChatMessage): ChatMessage {
  const { content } = message;
  if (!Array.isArray(content) || !(content as LoosePart[]).some(isForeign)) return message;
  return { ...message, content: (content as LoosePart[]).map(adaptPart) } as ChatMessage;
}

function isForeign({ type, prompt_cache_breakpoint: mark }: LoosePart): boolean {
  return type === "refusal" || mark !== undefined;
}

function adaptPart({ prompt_cache_breakpoint: _, ...part }: LoosePart): object {
  return part.type === "refusal" ? { type: "text", text: part.refusal } : part;
}
