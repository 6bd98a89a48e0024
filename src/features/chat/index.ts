/**
 * Chat: OpenAI's Chat Completions, as a paid call.
 *
 * Promises: a request that a model or its upstreams cannot do is refused by name, before anything is charged. Tokens are
 * charged as the upstream reports them, and by our own count where it does not, which the charge then says.
 */
export type { ChatQuestion } from "./ask-chat.ts";
export type { ChatKinds } from "./chat-kinds.ts";
export { chatFields } from "./chat-request-schema.ts";
export { checkFetchedUrls } from "./check-fetched-urls.ts";
export { type Chat, createChat } from "./create-chat.ts";
export { describeCost, presentCost, presentUsage } from "./present-chat.ts";
