import type { ChatMessage, ChatRequest } from "../../../../src/providers/chat-request.ts";
import { parseScript, type SandboxScript } from "../sandbox-script.ts";
import { countedCharactersMax, countTokens } from "./sandbox-tokens.ts";

/** What the sandbox reads from a request. */
export type SandboxPrompt = {
  systemText: string;
  /** Earlier user messages, oldest first. */
  earlierTexts: readonly string[];
  /** The last user message, without script words. */
  question: string;
  imageCount: number;
  /** The results of the last tool calls; empty if the last message is not one. */
  toolResults: readonly { name: string; text: string }[];
  messageCount: number;
  script: SandboxScript;
};

const tokensPerImage = 85;

export function readPrompt({ messages }: ChatRequest): SandboxPrompt {
  const users = messages.filter((message) => message.role === "user");
  const said = users.map((message) => parseScript(readSaid(message)));
  const last = said.at(-1) ?? parseScript("");
  return {
    systemText: messages.filter(isSystem).map(readText).join("\n"),
    earlierTexts: said.slice(0, -1).map(({ text }) => text),
    question: last.text,
    imageCount: countImages(users.at(-1)),
    toolResults: readToolResults(messages),
    messageCount: messages.length,
    script: last.script,
  };
}

/** Counts each message with its role. Whole blocks of a long system prompt count as cached. */
export function countInput(request: ChatRequest): { inputTokens: number; cachedInputTokens: number } {
  let charactersLeft = countedCharactersMax;
  const count = (text: string): number => {
    const tokens = countTokens(text, charactersLeft);
    charactersLeft = Math.max(0, charactersLeft - text.length);
    return tokens;
  };
  const offered = [...(request.tools ?? []), request.response_format].filter((part) => part !== undefined);
  let inputTokens = count(offered.map((part) => JSON.stringify(part)).join(""));
  let systemTokens = 0;
  for (const message of request.messages) {
    const tokens = 1 + count(readText(message)) + count(readCalls(message));
    inputTokens += tokens + countImages(message) * tokensPerImage;
    if (isSystem(message)) systemTokens += tokens;
  }
  const isLong = inputTokens > 1024;
  return { inputTokens, cachedInputTokens: isLong ? Math.floor(systemTokens / 128) * 128 : 0 };
}

function isSystem({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

function readText({ content }: ChatMessage): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Agents add context for the model as separate parts beside the user's text. */
function readSaid(message: ChatMessage): string {
  const { content } = message;
  if (!Array.isArray(content)) return readText(message);
  return content.map((part) => (part.type === "text" && !part.text.startsWith(reminderMark) ? part.text : "")).join("");
}

const reminderMark = "<system-reminder>";

function readCalls(message: ChatMessage): string {
  if (message.role !== "assistant" || message.tool_calls === undefined) return "";
  const texts = message.tool_calls.map((call) =>
    call.type === "function" ? call.function.name + call.function.arguments : call.custom.name + call.custom.input,
  );
  return texts.join("\n");
}

function countImages(message: ChatMessage | undefined): number {
  if (message?.role !== "user" || typeof message.content === "string") return 0;
  return message.content.filter(({ type }) => type === "image_url").length;
}

function readToolResults(messages: readonly ChatMessage[]): { name: string; text: string }[] {
  const lastOther = messages.findLastIndex(({ role }) => role !== "tool");
  const asked = messages[lastOther];
  const calls = asked?.role === "assistant" ? (asked.tool_calls ?? []) : [];
  return messages.slice(lastOther + 1).flatMap((message) => {
    if (message.role !== "tool") return [];
    const call = calls.find(({ id }) => id === message.tool_call_id);
    const name = call === undefined ? "tool" : call.type === "function" ? call.function.name : call.custom.name;
    return [{ name, text: readText(message) }];
  });
}
