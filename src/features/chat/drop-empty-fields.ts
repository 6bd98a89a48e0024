import { isUnread } from "../../lib/unread-json.ts";
import { findContents } from "../../providers/chat-contents.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { ExtraParameter, Model } from "../catalog/index.ts";
import { chatFields } from "./chat-request-schema.ts";

/** These may be `null` in an assistant message, by OpenAI's API. */
export const fieldsThatMayBeNull: ReadonlySet<string> = new Set(["content", "refusal"]);
/** The content of these belongs to the caller or to an upstream: `null` is a value there. */
const opaqueFields: ReadonlySet<string> = new Set(["parameters", "schema", "reasoning_details"]);
/** Fields that clients add to a response before they send it back, or that only describe it. */
const fieldsOfClients = {
  message: ["parsed", "annotations", "provider_specific_fields", "thinking_blocks"],
  call: ["provider_specific_fields", "caller"],
  function: ["parsed_arguments", "provider_specific_fields"],
} as const;

/** Values of optional parameters that ask for the default. */
function isNoOp(field: ExtraParameter, value: unknown): boolean {
  if (field === "service_tier") return value === "auto" || value === "default";
  return field === "modalities" && Array.isArray(value) && value.every((modality) => modality === "text");
}

/**
 * Removes `null` fields and no-op values from a request, in place. OpenAI's API accepts `null` for any optional field
 * and clients send it; other upstreams reject it. The depth must be checked before. Returns whether a value inside a field
 * has changed.
 */
export function dropEmptyFields(
  request: ChatRequest,
  { extra_parameters: extras = [] }: Pick<Model, "extra_parameters">,
  { hasNulls }: { hasNulls: boolean },
): boolean {
  let dropped = hasNulls ? dropNullFields(request) : 0;
  if (findContents(request) === null) {
    for (const message of request.messages) if (message.role === "assistant") dropped += dropClientFields(message);
  }
  dropNoOp(request, "modalities", extras);
  dropNoOp(request, "service_tier", extras);
  // Groq's name of the default.
  if (request.service_tier === "on_demand") delete request.service_tier;
  return dropped > 0;
}

/** Returns how many of them were inside other fields. */
function dropNullFields(request: ChatRequest): number {
  let dropped = 0;
  for (const field in request) {
    if (isUnread(request, field)) continue;
    const value = request[field];
    if (value === null) delete request[field];
    // Only its upstream knows what `null` means in a field outside OpenAI's API.
    else if (typeof value === "object" && Object.hasOwn(chatFields, field)) dropped += dropNulls(value);
  }
  return dropped;
}

function dropNoOp(request: ChatRequest, field: ExtraParameter, extras: readonly ExtraParameter[]): void {
  if (request[field] !== undefined && !extras.includes(field) && isNoOp(field, request[field])) delete request[field];
}

function dropNulls(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let dropped = 0;
  if (Array.isArray(value)) {
    for (const item of value) dropped += dropNulls(item);
    return dropped;
  }
  const record = value as Record<string, unknown>;
  for (const field in record) {
    const inner = record[field];
    if (inner === null) {
      if (fieldsThatMayBeNull.has(field)) continue;
      delete record[field];
      dropped += 1;
    } else if (typeof inner === "object" && !opaqueFields.has(field)) dropped += dropNulls(inner);
  }
  return dropped;
}

function dropClientFields(message: Record<string, unknown>): number {
  let dropped = dropFields(message, fieldsOfClients.message);
  if (message.prefix === false) dropped += dropFields(message, ["prefix"]);
  if (!Array.isArray(message.tool_calls)) return dropped;
  for (const call of message.tool_calls) {
    dropped += dropFields(call, fieldsOfClients.call);
    if (typeof call.function === "object") dropped += dropFields(call.function, fieldsOfClients.function);
  }
  return dropped;
}

function dropFields(record: Record<string, unknown>, fields: readonly string[]): number {
  let dropped = 0;
  for (const field of fields) {
    if (record[field] === undefined) continue;
    delete record[field];
    dropped += 1;
  }
  return dropped;
}
