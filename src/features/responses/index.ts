/**
 * OpenAI's Responses API, on the same paid call as chat.
 *
 * Promises: a request is translated to the chat format, so that every upstream can serve it; what chat cannot express
 * is rejected with the field, unless an upstream has the Responses API itself. The events of a stream add up to the
 * complete response. A response that is returned as stored is durable and visible only to its account. A background
 * response ends exactly once.
 */
export { createResponses, type Responses, sweepExpiredResponses } from "./create-responses.ts";
