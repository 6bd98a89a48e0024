/**
 * Messages: Anthropic's API, on the same paid call as chat.
 *
 * Promises: a request is translated to the chat format, so that every upstream can serve it; an upstream with
 * Anthropic's API gets it unchanged. What chat cannot express is rejected with the field, or dropped as the table in
 * docs/api/messages.md says. Responses, events and errors have Anthropic's format and name the caller's fields.
 */
export { createMessages, type Messages } from "./message-routes.ts";
