/**
 * Completions: OpenAI's legacy completions API, on the same paid call as chat.
 *
 * Promises: a chat model receives the prompt as a user message, and its answer is the completion's text. Features that
 * chat lacks (several prompts, tokens, `suffix`, `echo`, `best_of`) are rejected by name. Errors name this endpoint's
 * fields.
 */
export { type Completions, createCompletions } from "./completion-routes.ts";
