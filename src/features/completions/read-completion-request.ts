import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ChatObstacle, NativeRequest } from "../../providers/contract.ts";
import { type CompletionBody, promptsMax } from "./completion-schema.ts";

/** A completion as one request, and as a request for each prompt if there are several. */
type ReadCompletion = {
  request: ChatRequest;
  native: NativeRequest;
  parts?: readonly { request: ChatRequest; native: NativeRequest }[];
};

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

const choicesMax = 128;

/** Translates the request to chat. Throws if it uses a feature that no upstream has. */
export function readCompletionRequest(body: CompletionBody, envelope: NativeRequest["envelope"]): ReadCompletion {
  rejectUnsupported(body);
  const prompts = readPrompts(body.prompt);
  const choices = (body.n ?? 1) * prompts.length;
  if (choices > choicesMax) reject("n", `The prompts and \`n\` ask for ${choices} choices. The most is ${choicesMax}.`);
  const all = { ...translate(body, prompts), ...(choices > 1 ? { n: choices } : {}) };
  const whole = { request: all, native: createNative(body, envelope) };
  if (prompts.length === 1) return whole;
  const parts = prompts.map((prompt) => ({
    request: translate(body, [prompt]),
    native: createNative({ ...body, prompt }, envelope),
  }));
  return { ...whole, parts };
}

function translate(body: CompletionBody, prompts: readonly string[]): ChatRequest {
  const shared = sharedFields.flatMap((field) => (body[field] == null ? [] : [[field, body[field]]]));
  const { logprobs = null } = body;
  return {
    ...Object.fromEntries(shared),
    model: body.model,
    messages: prompts.map((content) => ({ role: "user", content })),
    ...(logprobs === null ? {} : { logprobs: true, ...(logprobs === 0 ? {} : { top_logprobs: logprobs }) }),
  };
}

/** The request for an upstream with the completions API. */
function createNative(body: CompletionBody, envelope: NativeRequest["envelope"]): NativeRequest {
  const { suffix } = body;
  const sent = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ""));
  const obstacle: ChatObstacle | null =
    suffix == null || suffix === ""
      ? null
      : { param: "suffix", message: "This model does not support `suffix`. Put the text into the prompt." };
  return { wire: "completions", body: { ...sent, prompt: body.prompt }, headers: {}, obstacle, envelope };
}

function reject(param: string, message: string): never {
  throw new AppError("unsupported_capability", message, { param });
}

function rejectUnsupported({ echo, best_of: tries, n, stream }: CompletionBody): void {
  if (echo === true) reject("echo", "`echo` is not supported. Prepend the prompt to the text yourself.");
  if (tries == null || tries === (n ?? 1)) return;
  if (stream === true) reject("best_of", "`best_of` is not supported with `stream`. Remove it.");
  reject("best_of", "`best_of` is not supported. Request several choices with `n` and pick one.");
}

function readPrompts(prompt: CompletionBody["prompt"]): string[] {
  if (typeof prompt === "string") return [prompt];
  const texts = prompt.filter((one) => typeof one === "string");
  if (texts.length < prompt.length) reject("prompt", "Token prompts are not supported. Send the prompt as text.");
  if (texts.length > promptsMax)
    reject("prompt", `A request takes up to ${promptsMax} prompts. Send several requests.`);
  return texts;
}
