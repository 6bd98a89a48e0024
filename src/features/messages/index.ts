/**
 * Messages: Anthropic's API, on the same paid call as chat.
 *
 * Promises: a request is translated to the form of chat, so that every upstream can answer it, and goes as it was written
 * to an upstream that speaks Anthropic's API itself. What the form of chat cannot say is refused by name, or left out by
 * the table of docs/api/messages.md. Answers, events and errors have Anthropic's form, and fields are named as the caller
 * named them.
 */
export { createMessages, type Messages } from "./create-messages.ts";
