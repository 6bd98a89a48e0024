/**
 * OpenAI's Responses API: chat by another wire.
 *
 * Promises: a request says the same to every upstream as it would in the form of chat, and what that form has no words for
 * is refused by name, unless an upstream speaks this wire itself. The events of a stream add up to the whole answer. What
 * is answered as stored is durable, and only its account sees it. One that is made in the background ends by itself, once.
 */
export { createResponses, type Responses } from "./create-responses.ts";
export { forgetExpiredResponses } from "./forget-expired-responses.ts";
