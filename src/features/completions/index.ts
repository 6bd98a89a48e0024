/**
 * Completions: OpenAI's legacy completions API, on the same paid call as chat.
 *
 * Promises: an upstream with this API gets the request as it is; a chat model receives the prompt as a user message,
 * and its answer is the completion's text. A list of prompts is one paid call with a request per prompt. Everything
 * else (tokens, `echo`, `best_of`, `suffix` without such an upstream) is rejected by name. Errors name this endpoint's
 * fields.
 */
export { type Completions, createCompletions } from "./completion-routes.ts";
