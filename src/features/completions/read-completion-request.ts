import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { CompletionBody } from "./completion-schema.ts";

/** Fields that mean the same to chat, by the same names. */
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

/** The request in the form of chat. Throws what chat cannot do of it, by name. */
export function readCompletionRequest(body: CompletionBody): ChatRequest {
  refuseForeign(body);
  const shared = sharedFields.flatMap((field) => (body[field] == null ? [] : [[field, body[field]]]));
  const { logprobs = null } = body;
  return {
    ...Object.fromEntries(shared),
    model: body.model,
    messages: [{ role: "user", content: readPrompt(body.prompt) }],
    ...(logprobs === null ? {} : { logprobs: true, ...(logprobs === 0 ? {} : { top_logprobs: logprobs }) }),
  };
}

function refuse(param: string, message: string): never {
  throw new AppError("unsupported_capability", message, { param });
}

function refuseForeign({ suffix, echo, best_of: tries, n, stream }: CompletionBody): void {
  if (suffix != null && suffix !== "")
    refuse("suffix", "Chat models do not write up to a `suffix`. Put it into the prompt.");
  if (echo === true) refuse("echo", "The prompt is not repeated. Put it before the text yourself.");
  if (tries == null || tries === (n ?? 1)) return;
  if (stream === true) refuse("best_of", "A stream cannot choose the best of several.");
  refuse("best_of", "The best is not chosen here. Ask for all of them with `n`.");
}

function readPrompt(prompt: CompletionBody["prompt"]): string {
  if (typeof prompt === "string") return prompt;
  const [first] = prompt;
  if (typeof first !== "string") refuse("prompt", "Send the prompt as text: tokens are not taken here.");
  if (prompt.length > 1) refuse("prompt", "Send one prompt at a time.");
  return first;
}
