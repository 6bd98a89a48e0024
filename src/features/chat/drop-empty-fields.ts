import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ExtraParameter, Model } from "../catalog/index.ts";
import { chatFields } from "./chat-request-schema.ts";

/** Of an answer that is sent back, the contract has these as `null`. */
const fieldsThatMayBeNull: ReadonlySet<string> = new Set(["content", "refusal"]);
/** What is inside of these is the caller's own or an upstream's, and `null` there is a value like any other. */
const opaqueFields: ReadonlySet<string> = new Set(["parameters", "schema", "reasoning_details"]);
/** What clients add of their own to an answer that they send back, or what only tells of it. */
const fieldsOfClients = ["parsed", "annotations"] as const;

/** Of fields that only some models take: the values that ask for what happens anyway. */
function isNoOp(field: ExtraParameter, value: unknown): boolean {
  if (field === "service_tier") return value === "auto" || value === "default";
  return field === "modalities" && Array.isArray(value) && value.every((modality) => modality === "text");
}

/**
 * Takes out of a request what says nothing. OpenAI's API takes `null` for whatever may be left out, and clients send it;
 * other upstreams refuse it, and nothing behind this has to tell the two apart. Changes the request itself, which must
 * not be nested too deep.
 */
export function dropEmptyFields(
  request: ChatRequest,
  { extra_parameters: extras = [] }: Pick<Model, "extra_parameters">,
  { hasNulls }: { hasNulls: boolean },
): void {
  if (hasNulls) dropNullFields(request);
  for (const message of request.messages) if (message.role === "assistant") dropClientFields(message);
  dropNoOp(request, "modalities", extras);
  dropNoOp(request, "service_tier", extras);
}

function dropNullFields(request: ChatRequest): void {
  for (const field in request) {
    const value = request[field];
    if (value === null) delete request[field];
    // Only its upstream knows what a field beyond the contract means.
    else if (typeof value === "object" && Object.hasOwn(chatFields, field)) dropNulls(value);
  }
}

function dropNoOp(request: ChatRequest, field: ExtraParameter, extras: readonly ExtraParameter[]): void {
  if (request[field] !== undefined && !extras.includes(field) && isNoOp(field, request[field])) delete request[field];
}

function dropNulls(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item);
    return;
  }
  const record = value as Record<string, unknown>;
  for (const field in record) {
    const inner = record[field];
    if (inner === null) {
      if (!fieldsThatMayBeNull.has(field)) delete record[field];
    } else if (typeof inner === "object" && !opaqueFields.has(field)) dropNulls(inner);
  }
}

function dropClientFields(message: Record<string, unknown>): void {
  for (const field of fieldsOfClients) if (message[field] !== undefined) delete message[field];
  if (!Array.isArray(message.tool_calls)) return;
  for (const call of message.tool_calls) if (typeof call.function === "object") delete call.function.parsed_arguments;
}
