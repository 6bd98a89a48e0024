/**
 * OpenAI's Responses API: chat by another wire.
 *
 * Promises: a request says the same to every upstream as it would in the form of chat, and what that form has no words for
 * is refused by name, unless an upstream speaks this wire itself. The events of a stream add up to the whole answer.
 */
export { createResponses, type Responses } from "./create-responses.ts";
