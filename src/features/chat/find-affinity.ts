import type { AccountId } from "../../lib/ids.ts";
import { hashText, mixHashes } from "../../lib/text-hash.ts";
import type { ChatMessage, ChatRequest } from "../../providers/chat-request.ts";

type Conversation = {
  accountId: AccountId;
  request: ChatRequest;
  /** What the client calls it in a header. */
  session: string | null;
};

/** Of a long text its beginning and its end are looked at, and of many things the first. */
const charactersMax = 512;
const itemsMax = 16;

/**
 * A number that all calls of one conversation share, so that they go to the same target, whose cache has read it already.
 * Whoever names the conversation, or who it is for, decides; else it is known by how it begins. The account is part of it:
 * no name means the same for two of them.
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

/** What stays the same while a conversation goes on: instructions, tools, and what the user said first. */
function hashBeginning({ messages, tools = [] }: ChatRequest): number {
  let hash = tools.length + 1;
  for (const tool of tools.slice(0, itemsMax)) {
    hash = hashText(tool.type === "function" ? tool.function.name : tool.custom.name, hash);
  }
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
