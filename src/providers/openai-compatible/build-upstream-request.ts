import { type ChatMessage, type ChatRequest, echoedFields } from "../chat-request.ts";
import type { ChatCall } from "../contract.ts";
import { restoreReasoningDetails } from "./reasoning-details.ts";

type OutputCapField = "max_completion_tokens" | "max_tokens" | "none";

/** What an upstream wants otherwise than the contract has it. */
export type UpstreamHabits = {
  outputCapField: OutputCapField;
  /** Whether it can report the usage of a stream. */
  hasStreamUsage: boolean;
  /** `system` for upstreams that do not know the role `developer`. */
  systemRole: "as-sent" | "system";
  /** Fields of a request that it cannot take. */
  unsupportedFields: readonly string[];
};

/** Values that ask for nothing beyond what happens anyway. Client libraries send them unasked. */
const neutralValues: Readonly<Record<string, unknown>> = {
  n: 1,
  logprobs: false,
  top_logprobs: 0,
  parallel_tool_calls: true,
  store: false,
  stream: false,
};

/** Hints that say nothing of the answer: an upstream that does not know one is not sent it, and answers all the same. */
const hints: ReadonlySet<string> = new Set(["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"]);

export function isAskedFor(request: ChatRequest, field: string): boolean {
  const value = request[field];
  return !hints.has(field) && value !== undefined && value !== null && value !== neutralValues[field];
}

/** Whether the answer has to come as a stream: because the caller wants one, or because it may have to be stopped. */
export function isStreamNeeded(request: ChatRequest, { outputCapField }: UpstreamHabits): boolean {
  return request.stream === true || outputCapField === "none";
}

/** The body of the upstream's request: the caller's fields, with what is ours to say put in their place. */
export function buildUpstreamBody(
  { request, upstreamModel, outputTokensMax, passthrough = [] }: ChatCall,
  habits: UpstreamHabits,
): string {
  const isStreamed = isStreamNeeded(request, habits);
  const body: Record<string, unknown> = {
    ...request,
    model: upstreamModel,
    // What is undefined is left out of JSON.
    max_tokens: undefined,
    max_completion_tokens: undefined,
    stream: isStreamed ? true : (request.stream ?? undefined),
    stream_options: isStreamed && habits.hasStreamUsage ? { include_usage: true } : undefined,
  };
  const foreign = echoedFields.filter((field) => !passthrough.includes(field));
  const messages = dropForeign(request.messages, foreign);
  body.messages = habits.systemRole === "system" ? messages.map(turnIntoSystem) : messages;
  if (request.tools !== undefined) body.tools = dropForeign(request.tools, foreign);
  if (habits.outputCapField !== "none") body[habits.outputCapField] = outputTokensMax;
  // Only neutral values and hints are left in these.
  for (const field of habits.unsupportedFields) body[field] = undefined;
  return JSON.stringify(body);
}

type Echoing = { [field in (typeof echoedFields)[number]]?: unknown } & { content?: unknown };

/** Without the fields that this upstream would refuse a request for; the same list where there are none. */
function dropForeign<T extends object>(items: T[], foreign: readonly string[]): T[] {
  return items.some(isEchoing) ? items.map((item) => dropForeignFields(item, foreign)) : items;
}

/** By their names, one by one: most requests have none of them, and find that out here. */
function isEchoing(item: Echoing): boolean {
  if (item.reasoning !== undefined || item.reasoning_content !== undefined) return true;
  if (item.reasoning_details !== undefined || item.cache_control !== undefined) return true;
  return Array.isArray(item.content) && item.content.some(isEchoing);
}

function dropForeignFields<T extends Echoing>(item: T, foreign: readonly string[]): T {
  const cleaned: Record<string, unknown> = { ...item };
  for (const field of foreign) delete cleaned[field];
  const { reasoning_details: details } = cleaned;
  if (Array.isArray(details)) cleaned.reasoning_details = restoreReasoningDetails(details);
  if (Array.isArray(item.content)) cleaned.content = dropForeign(item.content, foreign);
  return cleaned as T;
}

function turnIntoSystem(message: ChatMessage): ChatMessage {
  return message.role === "developer" ? { ...message, role: "system" } : message;
}
