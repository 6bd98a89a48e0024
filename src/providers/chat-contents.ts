import { findUnreadFacts } from "../lib/unread-json.ts";
import type { ChatRequest } from "./chat-request.ts";

/** The type of each tool by its name. */
type ToolTypes = ReadonlyMap<string, "function" | "custom">;

/**
 * What is known of a request's messages and tools that were checked but not parsed. They have only texts and calls of
 * functions: no media, no cache marks for an hour, and no `null` to drop.
 */
export type ChatContents = {
  messages: number;
  /** Of all texts. */
  characters: number;
  hasDeveloper: boolean;
  tools: number;
  /** The names of the first tools. Names are unique. */
  firstTools: readonly string[];
  readToolTypes(): ToolTypes;
  /** The first messages, up to the first that is no instruction. */
  readOpening(): ChatRequest["messages"];
};

/** What is known of a native request's fields that were checked but not parsed. */
export type NativeContents = {
  /** Some have a cache mark: none for an hour. */
  isMarked: boolean;
};

export function findNativeContents(body: object): NativeContents | null {
  return findUnreadFacts(body) as NativeContents | null;
}

/** `null` if the request's messages and tools are parsed, or were read since. */
export function findContents(request: ChatRequest): ChatContents | null {
  return findUnreadFacts(request) as ChatContents | null;
}
