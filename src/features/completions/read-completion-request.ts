import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { CompletionBody } from "./completion-schema.ts";

/** Fields with the same name and meaning in chat. */
const sharedFields = [
  "stream",
  "stream_options",
  "max_tokens",
  "n",
  "stop",
  "temperature",
  "top_p",
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "seed",
  "user",
] as const satisfies readonly (keyof CompletionBody)[];

/** Translates the request to chat. Throws if it uses a feature that chat lacks. */
export function readCompletionRequest(body: CompletionBody): ChatRequest {
  rejectUnsupported(body);
  const shared = sharedFields.flatMap((field) => (body[field] == null ? [] : [[field, body[field]]]));
  const { logprobs = null } = body;
  return {
    ...Object.fromEntries(shared),
    model: body.model,
    messages: [{ role: "user", content: readPrompt(body.prompt) }],
    ...(logprobs === null ? {} : { logprobs: true, ...(logprobs === 0 ? {} : { top_logprobs: logprobs }) }),
  };
}

function reject(param: string, message: string): never {
  throw new AppError("unsupported_capability", message, { param });
}

function rejectUnsupported({ suffix, echo, best_of: tries, n, stream }: CompletionBody): void {
  if (suffix != null && suffix !== "")
    reject("suffix", "Chat models do not support `suffix`. Put the text into the prompt.");
  if (echo === true) reject("echo", "`echo` is not supported. Prepend the prompt to the text yourself.");
  if (tries == null || tries === (n ?? 1)) return;
  if (stream === true) reject("best_of", "`best_of` is not supported with `stream`. Remove it.");
  reject("best_of", "`best_of` is not supported. Request several choices with `n` and pick one.");
}

function readPrompt(prompt: CompletionBody["prompt"]): string {
  if (typeof prompt === "string") return prompt;
  const [first] = prompt;
  if (typeof first !== "string") reject("prompt", "Token prompts are not supported. Send the prompt as text.");
  if (prompt.length > 1) reject("prompt", "Several prompts are not supported. Send one prompt per request.");
  return first;
}
