import type { AccountId } from "../../lib/ids.ts";
import { hashText, mixHashes } from "../../lib/text-hash.ts";
import { findContents } from "../../providers/chat-contents.ts";
import { type ChatMessage, type ChatRequest, nameTool } from "../../providers/chat-request.ts";

type Conversation = {
  accountId: AccountId;
  request: ChatRequest;
  /** The conversation's name from a request header. */
  session: string | null;
};

/** Hash only the start and the end of a long text, and the first items of a list. */
const charactersMax = 512;
/** The most tools, messages and parts that are hashed. */
export const itemsMax = 16;

/**
 * A hash that all calls of one conversation share, so that they go to the target whose prompt cache has it. A name from
 * the caller (cache key, user, session) wins; otherwise the start of the conversation is hashed. The account is part of
 * it: equal names of two accounts are unrelated.
 */
export function findAffinity({ accountId, request, session }: Conversation): number {
  const account = hashText(accountId);
  const name = findName(request) ?? session;
  return mixHashes(account, name === null ? hashBeginning(request) : hashEnds(name, 1));
}

function findName({ prompt_cache_key: cacheKey, user, metadata }: ChatRequest): string | null {
  const userId = (metadata as { user_id?: unknown } | null | undefined)?.user_id;
  for (const name of [cacheKey, user, userId]) if (typeof name === "string" && name !== "") return name;
  return null;
}

/** The parts that stay the same as a conversation grows: instructions, tools and the first user message. */
function hashBeginning(request: ChatRequest): number {
  const contents = findContents(request);
  if (contents !== null) return hashOpening(contents.tools, contents.firstTools, contents.readOpening());
  const { messages, tools = [] } = request;
  const names = tools.slice(0, itemsMax).map(nameTool);
  return hashOpening(tools.length, names, messages);
}

function hashOpening(tools: number, toolNames: readonly string[], messages: readonly ChatMessage[]): number {
  let hash = tools + 1;
  for (const name of toolNames.slice(0, itemsMax)) hash = hashText(name, hash);
  for (const message of messages.slice(0, itemsMax)) {
    hash = hashContent(message, hash);
    if (message.role !== "system" && message.role !== "developer") break;
  }
  return hash;
}

function hashContent({ content }: Pick<ChatMessage, "content">, seed: number): number {
  if (typeof content === "string") return hashEnds(content, seed);
  let hash = seed;
  for (const part of content?.slice(0, itemsMax) ?? []) {
    if (part.type === "text") hash = hashEnds(part.text, hash);
    if (part.type === "image_url") hash = hashEnds(part.image_url.url, hash);
  }
  return hash;
}

function hashEnds(text: string, seed: number): number {
  if (text.length <= charactersMax) return hashText(text, seed);
  const half = charactersMax / 2;
  return hashText(text.slice(-half), hashText(text.slice(0, half), seed ^ text.length));
}
