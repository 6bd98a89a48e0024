import type { ChatRequest } from "../../providers/chat-request.ts";

/** The contract lets these be empty. */
const fieldsThatMayBeEmpty = ["content", "refusal"];
/** What clients add of their own to an answer that they send back, or what only tells of it. */
const fieldsOfClients = ["parsed", "annotations"];

/**
 * Takes out of earlier answers what says nothing to a model: many clients send an answer back as they keep it, with every
 * empty field as `null`, which upstreams refuse. Changes the request itself.
 */
export function dropEmptyFields(request: ChatRequest): void {
  for (const message of request.messages as Record<string, unknown>[]) {
    if (message.role !== "assistant") continue;
    for (const field of Object.keys(message)) {
      const isEmpty = message[field] === null && !fieldsThatMayBeEmpty.includes(field);
      if (isEmpty || fieldsOfClients.includes(field)) delete message[field];
    }
    dropParsedArguments(message.tool_calls);
  }
}

function dropParsedArguments(calls: unknown): void {
  for (const call of Array.isArray(calls) ? calls : []) {
    if (typeof call.function === "object") delete call.function.parsed_arguments;
  }
}
