/**
 * Completions: OpenAI's older API of one prompt and its text, on the same paid call as chat.
 *
 * Promises: the prompt is a message of the user to a chat model, and what the model says is the text. What chat cannot do
 * (several prompts, tokens, `suffix`, `echo`, `best_of`) is refused by name. Errors name the fields of this endpoint.
 */
export { type Completions, createCompletions } from "./create-completions.ts";
