import type { Chat } from "../chat/index.ts";
import type { Fields } from "./message-error.ts";
import { readMessageRequest } from "./read-message-request.ts";

/** About how many tokens a request has: its texts and tools by our own count, and what vendors write around them. */
export function countMessageTokens(chat: Pick<Chat, "countInput">, body: Fields, bodyBytes: number): number {
  const { request } = readMessageRequest({ ...body, max_tokens: 1 }, null);
  return chat.countInput(request, bodyBytes);
}
