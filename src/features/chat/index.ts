/**
 * Chat: OpenAI's Chat Completions, as a paid call.
 *
 * Promises: a request that the model or its upstreams do not support is rejected, with the field, before any charge.
 * Tokens are charged as the upstream reports them. Without a report we charge our own count, and the bill says so.
 */
export type { ChatQuestion } from "./ask-chat.ts";
export type { ChatKinds } from "./chat-kinds.ts";
export { chatFields } from "./chat-request-schema.ts";
export { chatErrors } from "./chat-routes.ts";
export { checkFetchedUrls } from "./check-fetched-urls.ts";
export { type Chat, createChat } from "./create-chat.ts";
export { countInput } from "./measure-input.ts";
export { describeCost, presentCost, presentUsage } from "./present-chat.ts";
export { createUsage, priceUsage } from "./quote-chat.ts";
export { type CallersNames, type CallersPlaces, type MessagePlace, translateError } from "./translate-error.ts";
